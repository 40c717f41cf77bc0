/* SPDX-License-Identifier: MIT */
/* Exceptions through several frames, with destructors on the way, caught and thrown again. */
#include <cstdio>
#include <stdexcept>
#include <string>

static volatile int destroyed;

struct guard {
	~guard()
	{
		destroyed = destroyed + 1;
	}
};

__attribute__((noinline)) static int thrower(int n)
{
	guard here;

	if (n == 0)
		throw std::runtime_error("deep");
	return thrower(n - 1) + 1;
}

__attribute__((noinline)) static int rethrower(int n)
{
	try {
		return thrower(n);
	} catch (const std::runtime_error &error) {
		if (n % 2)
			throw;
		return -1;
	}
}

__attribute__((noinline)) static int catcher(int n)
{
	try {
		return rethrower(n);
	} catch (const std::exception &error) {
		return static_cast<int>(std::string(error.what()).size());
	}
}

int main()
{
	int sum = 0;

	for (int i = 0; i < 8; i++)
		sum += catcher(i);
	std::printf("%d %d\n", sum, destroyed);
	return 0;
}
