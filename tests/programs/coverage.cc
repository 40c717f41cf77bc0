// SPDX-License-Identifier: MIT
// Templates, constructors, inline functions and a lambda, which has no line of its own, for --format=lcov.
#include <cstdio>
#include <initializer_list>

struct counted {
	static int alive;
	int value;
	explicit counted(int v) : value(v)
	{
		alive++;
	}
	~counted()
	{
		alive--;
	}
	int twice() const { return 2 * value; }
};
int counted::alive;

template <typename T> static T larger(T a, T b)
{
	if (a > b)
		return a;
	return b;
}

class shape {
public:
	virtual ~shape() = default;
	virtual int area() const = 0;
};

class box : public shape {
	int side;

public:
	explicit box(int s) : side(s) {}
	int area() const override { return side * side; }
};

static inline __attribute__((always_inline)) int clamp(int x)
{
	if (x > 50)
		x = 50;
	return x;
}

static int checked(int x)
{
	counted guard(x);

	if (x % 4 == 3)
		return -x;
	return guard.twice();
}

int main()
{
	int total = 0;

	for (int i = 0; i < 5; i++)
		total += checked(i);
	for (int i : { 3, 60, 9 })
		total += clamp(i) + larger(i, 10) + (int)larger(2.5, 1.5 * i);
	auto tripled = [](int x) { return 3 * x; };
	total += tripled(1) + tripled(2);
	shape *figure = new box(total % 9);
	total += figure->area();
	delete figure;
	std::printf("%d %d\n", total, counted::alive);
	return 0;
}
