/* SPDX-License-Identifier: MIT */
/*
 * The page of `ptrace2ftf why -o FILE.html`: its words, bars and boxes.  A chart is 960 pixels
 * wide, a histogram 120 high; a box is 18 high, with its border (src/html/why_page.c).
 */
#include <unistd.h>

#include "symbols/dso/dso_store.h"
#include "tests/unit/src/answers.h"

/* f takes 30 ns, a third of it each in a and b. Once a takes 500 ns more, and twice b 200 ns. */
static void run_for_page(void)
{
	for (int i = 0; i < 100; i++) {
		enter("f");
		now += 10;
		spend("a", i == 50 ? 510 : 10);
		spend("b", i == 70 || i == 71 ? 210 : 10);
		leave();
	}
	finish_format(&format_why_page);
}

START_TEST(a_page_has_the_verdict_and_the_causes)
{
	open_format(&format_why_page);
	run_for_page();
	expect("\n<p class=\"verdict\">3 of 100 calls of <b>f</b> took 900ns more than usual, "
	       "together, mainly because of <b>a, 56 % of the extra time; ");
	expect("</td><td>100</td><td>3</td><td>f</td></tr>\n");
	expect("<span class=\"key c0\"></span></td><td>1</td><td>500ns</td><td><b>a, ");
	expect("<span class=\"key c1\"></span></td><td>2</td><td>200ns</td><td><b>b, ");
	expect("\n<li>ptrace2ftf annotate a</li>\n");
	close_format(&format_why_page);
}
END_TEST

/*
 * Classes of a quarter of an octave from 28 to 640 ns: 18, of 53.3 pixels, a tenth of them space.
 * Heights are 120 log(1 + calls) / log(1 + 100). The bound, 60 ns, is in the fifth class.
 */
START_TEST(a_pages_histogram_has_all_calls_in_the_colours_of_causes)
{
	open_format(&format_why_page);
	run_for_page();
	expect("<title>calls from 28ns to below 32ns: 97</title>\n"
	       "<rect class=\"usual\" x=\"0.0\" y=\"0.8\" width=\"48.0\" height=\"119.2\"/>\n"
	       "<text x=\"24.0\" y=\"-1.2\" text-anchor=\"middle\">97</text></g>\n"
	       "<g><title>calls from 224ns to below 256ns: 2</title>\n"
	       "<rect class=\"c1\" x=\"640.0\" y=\"91.4\" width=\"48.0\" height=\"28.6\"/>\n"
	       "<text x=\"664.0\" y=\"89.4\" text-anchor=\"middle\">2</text></g>\n"
	       "<g><title>calls from 512ns to below 640ns: 1</title>\n"
	       "<rect class=\"c0\" x=\"906.7\" y=\"102.0\" width=\"48.0\" height=\"18.0\"/>\n");
	expect("<line class=\"bound\" x1=\"266.7\" x2=\"266.7\" y1=\"0\" y2=\"120\"/>");
	expect("x1=\"53.3\" x2=\"53.3\" y1=\"120\" y2=\"124\"/><text x=\"53.3\" y=\"136\">32ns</text>");
	expect("The fastest call takes 30ns, and the slowest one 530ns.");
	expect("take longer than 60ns.</p>");
	close_format(&format_why_page);
}
END_TEST

/* One of 100 calls in a class is slow: its part of the bar is at the top. */
START_TEST(a_bar_is_divided_among_slow_and_usual_calls)
{
	options.slow = (struct slow_choice){ .has_bound = true, .longer = 30 };
	open_format(&format_why_page);
	for (int i = 0; i < 100; i++)
		spend("f", i == 50 ? 31 : 30);
	finish_format(&format_why_page);
	expect(": 100</title>\n"
	       "<rect class=\"c0\" x=\"0.0\" y=\"0.0\" width=\"864.0\" height=\"1.2\"/>\n"
	       "<rect class=\"usual\" x=\"0.0\" y=\"1.2\" width=\"864.0\" height=\"118.8\"/>\n");
	close_format(&format_why_page);
}
END_TEST

/* 960 pixels are 530 ns. Narrow boxes have no name. The extra is red, from the right end on. */
START_TEST(a_page_has_the_slowest_call_beside_a_usual_one)
{
	open_format(&format_why_page);
	run_for_page();
	expect("<p>The slowest call: 530ns</p>\n"
	       "<svg class=\"icicle\" viewBox=\"0 0 960 36\" width=\"960\"");
	expect("<g><title>f: 530ns, usually 30ns</title>"
	       "<rect class=\"usual\" x=\"0.0\" y=\"0\" width=\"960.0\" height=\"17\"/>"
	       "<rect class=\"extra\" x=\"54.3\" y=\"0\" width=\"905.7\" height=\"17\"/>"
	       "<text x=\"2.0\" y=\"13\">f</text></g>\n"
	       "<g><title>a: 510ns, usually 10ns</title>"
	       "<rect class=\"usual\" x=\"0.0\" y=\"18\" width=\"923.8\" height=\"17\"/>"
	       "<rect class=\"extra\" x=\"18.1\" y=\"18\" width=\"905.7\" height=\"17\"/>"
	       "<text x=\"2.0\" y=\"31\">a</text></g>\n"
	       "<g><title>b: 10ns, usually 10ns</title>"
	       "<rect class=\"usual\" x=\"923.8\" y=\"18\" width=\"18.1\" height=\"17\"/></g>\n"
	       "</svg>\n<p>A usual call, on the same scale: 30ns</p>\n");
	expect("<g><title>b: 10ns, usually 10ns</title>"
	       "<rect class=\"usual\" x=\"18.1\" y=\"18\" width=\"18.1\" height=\"17\"/></g>\n");
	close_format(&format_why_page);
}
END_TEST

/* A call that the end of the trace cuts takes at least as long. */
START_TEST(a_page_says_that_a_cut_call_is_longer)
{
	open_format(&format_why_page);
	for (int i = 0; i < 100; i++)
		spend("f", 30);
	enter("f");
	now += 530;
	cut(now);
	finish_format(&format_why_page);
	expect("1 of 101 calls of <b>f</b> took at least 500ns more than usual");
	expect("</td><td>1</td><td>&gt;500ns</td>");
	close_format(&format_why_page);
}
END_TEST

START_TEST(a_page_without_slow_calls_has_the_histogram)
{
	open_format(&format_why_page);
	for (int i = 0; i < 100; i++)
		spend("f<1>", 30);
	finish_format(&format_why_page);
	expect("<p class=\"verdict\"><b>f&lt;1&gt;</b>: no call is much slower than the others. "
	       "</p>\n");
	ck_assert_ptr_null(strstr(text, "<h3>The slowest call"));
	ck_assert_ptr_null(strstr(text, "<1>"));
	close_format(&format_why_page);
}
END_TEST

START_TEST(a_page_without_slow_calls_says_where_most_time_is)
{
	options.select.symbols.count = 0;
	open_format(&format_why_page);
	enter("main");
	spend("[syscall: poll]", 1000000);
	for (int i = 0; i < 100; i++) {
		enter("p<1>");
		now += 90;
		spend("liba", 10);
		leave();
	}
	leave();
	finish_format(&format_why_page);
	expect("No slow calls were found.</p>\n<p>most time is in p&lt;1&gt;: 100 % of the time outside "
	       "system calls; calls: 100; a usual one takes 100ns, 10 % in liba.</p>\n");
	close_format(&format_why_page);
}
END_TEST

/* ---- Source ----------------------------------------------------------------- */

static const struct name *source; /* of a, which begins at line 25; NULL: unknown */

struct source_line __wrap_dso_symbol_line(const struct symbol *symbol);

struct source_line __wrap_dso_symbol_line(const struct symbol *symbol)
{
	return (struct source_line){ .file = strcmp(symbol->name->text, "a") == 0 ? source : NULL,
				     .line = 25 };
}

/* Three lines before that of the cause, and 16 after it, as far as the file goes. */
START_TEST(a_page_has_the_source_of_the_cause)
{
	char path[] = "/tmp/answers-XXXXXX.c", line[80];
	FILE *out = fdopen(mkstemps(path, 2), "w");
	int last = _i ? 30 : 60;

	for (int i = 1; i <= last; i++)
		fprintf(out, "<%d>\n", i);
	fclose(out);
	source = name_intern_text(&names, path);
	((struct symbol *)symbol_of("f"))->dso = library;
	((struct symbol *)symbol_of("a"))->dso = library;
	((struct symbol *)symbol_of("b"))->dso = library;
	open_format(&format_why_page);
	run_for_page();
	unlink(path);
	source = NULL;
	expect("<h3>Source of a</h3>\n");
	expect("<pre class=\"source\">               22  &lt;22&gt;\n               23  &lt;23&gt;\n");
	expect("\n<mark>               25  &lt;25&gt;</mark>\n               26  &lt;26&gt;\n");
	sprintf(line, "\n               %d  &lt;%d&gt;\n</pre>\n", last > 41 ? 41 : last,
		last > 41 ? 41 : last);
	expect(line);
	close_format(&format_why_page);
}
END_TEST

/* A file of --symfs is another machine's, and so is one that is not there. */
START_TEST(a_page_without_the_file_has_no_source)
{
	source = name_intern_text(&names, _i ? "/nonexistent/a.c" : __FILE__);
	options.symfs = _i ? NULL : "/";
	((struct symbol *)symbol_of("a"))->dso = library;
	open_format(&format_why_page);
	run_for_page();
	source = NULL;
	ck_assert_ptr_null(strstr(text, "<h3>Source of"));
	close_format(&format_why_page);
}
END_TEST

void add_page_tests(TCase *all)
{
	tcase_add_test(all, a_page_has_the_verdict_and_the_causes);
	tcase_add_test(all, a_pages_histogram_has_all_calls_in_the_colours_of_causes);
	tcase_add_test(all, a_bar_is_divided_among_slow_and_usual_calls);
	tcase_add_test(all, a_page_has_the_slowest_call_beside_a_usual_one);
	tcase_add_test(all, a_page_says_that_a_cut_call_is_longer);
	tcase_add_test(all, a_page_without_slow_calls_has_the_histogram);
	tcase_add_test(all, a_page_without_slow_calls_says_where_most_time_is);
	tcase_add_loop_test(all, a_page_has_the_source_of_the_cause, 0, 2);
	tcase_add_loop_test(all, a_page_without_the_file_has_no_source, 0, 2);
}
