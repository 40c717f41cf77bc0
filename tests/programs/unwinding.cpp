/* SPDX-License-Identifier: MIT */
/* Exceptions in recursive functions: a landing pad may be of any level, and next to a call. */
#include <cstdio>
#include <stdexcept>

static volatile int destroyed;

struct guard {
	int n;
	~guard()
	{
		destroyed = destroyed + n;
	}
};

/* Each level cleans up and resumes the exception. */
__attribute__((noinline)) static int clean(int n)
{
	guard here = { n };

	if (n == 0)
		throw n;
	return clean(n - 1) + here.n;
}

/* A level catches, throws again or returns; calls of the same function are close together. */
__attribute__((noinline)) static int catching(int n)
{
	if (n == 0)
		return clean(3);
	try {
		return catching(n - 1);
	} catch (int thrown) {
		if (n % 3)
			throw;
		return catching(n - 1 - thrown % 2);
	}
}

/* Levels without a handler or destructor, between levels with one. */
__attribute__((noinline)) static int sparse(int n)
{
	if (n == 0)
		throw std::runtime_error("end");
	if (n % 4)
		return sparse(n - 1) + 1;
	try {
		return sparse(n - 1) + 2;
	} catch (const std::exception &error) {
		if (n % 8)
			throw std::logic_error("another");
		return n;
	}
}

struct thrower {
	int n;
	~thrower() noexcept(false)
	{
		try {
			if (n > 0)
				thrower next = { n - 1 };
			else
				throw n;
		} catch (int) {
			if (n % 2)
				throw;
		}
	}
};

__attribute__((noinline)) static int destruct(int n)
{
	try {
		thrower here = { n };
	} catch (int caught) {
		return caught;
	}
	return -1;
}

template <typename Function> static int caught(Function function, int n)
{
	try {
		return function(n);
	} catch (...) {
		return n;
	}
}

int main()
{
	int sum = caught(clean, 3) + caught(catching, 4) + caught(sparse, 9) + caught(destruct, 3);

	std::printf("%d %d\n", sum, destroyed);
	return 0;
}
