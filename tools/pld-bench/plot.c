// SPDX-License-Identifier: GPL-2.0
/*
 * Time over size as SVG, both axes logarithmic: a line and a kind of marker for
 * each operation. Written by hand, since some lines of text are all that it
 * takes: a library for charts would be one more thing to have in order to build.
 */
#include <math.h>
#include <stdio.h>

#include "report.h"

#define WIDTH 960
#define HEIGHT 560
/* Of the area that the lines are in. */
#define LEFT 90
#define RIGHT 690
#define TOP 60
#define BOTTOM 490
/* Most labels that fit below the axis. */
#define MOST_LABELS 12
#define LEGEND_LEFT (RIGHT + 24)
#define LEGEND_STEP 24

/* Powers of 2 below, of 10 at the left. */
struct axes {
	double least_x;
	double most_x;
	double least_y;
	double most_y;
};

/* Told apart by those who see no red and green, too. */
static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73",
				       "#cc79a7", "#000000", "#e69f00",
				       "#56b4e9" };
#define COLOURS (sizeof(colours) / sizeof(colours[0]))
#define SHAPES 4

static double x_of(const struct axes *axes, double size)
{
	return LEFT + (log2(size) - axes->least_x) * (RIGHT - LEFT) /
			      (axes->most_x - axes->least_x);
}

static double y_of(const struct axes *axes, double us)
{
	return BOTTOM - (log10(us) - axes->least_y) * (BOTTOM - TOP) /
				(axes->most_y - axes->least_y);
}

static bool has_point(const struct result *result)
{
	return result->operation->sized && result->us > 0;
}

static double size_of(const struct report *report, const struct result *result)
{
	return (double)result_size(result, report->options->format);
}

/* Whole powers around all points, at least one apart. */
static struct axes axes_of(const struct report *report)
{
	struct axes axes = { INFINITY, -INFINITY, INFINITY, -INFINITY };

	for (size_t i = 0; i < report->count; i++) {
		const struct result *result = &report->results[i];
		double size = size_of(report, result);

		if (!has_point(result))
			continue;
		axes.least_x = fmin(axes.least_x, floor(log2(size)));
		axes.most_x = fmax(axes.most_x, ceil(log2(size)));
		axes.least_y = fmin(axes.least_y, floor(log10(result->us)));
		axes.most_y = fmax(axes.most_y, ceil(log10(result->us)));
	}
	axes.most_x = fmax(axes.most_x, axes.least_x + 1);
	axes.most_y = fmax(axes.most_y, axes.least_y + 1);
	return axes;
}

/* A power of the unit's step in the largest unit that it has a whole one of. */
static void print_in_units(FILE *file, double value, double step,
			   const char *const *units, int count)
{
	int unit = 0;

	while (unit + 1 < count && value >= step) {
		value /= step;
		unit++;
	}
	fprintf(file, "%g %s", value, units[unit]);
}

static void print_size(FILE *file, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };

	print_in_units(file, bytes, 1024, units, 5);
}

static void print_time(FILE *file, double us)
{
	static const char *const units[] = { "ns", "µs", "ms", "s" };

	print_in_units(file, us * 1000, 1000, units, 4);
}

static void print_line(FILE *file, double x1, double y1, double x2, double y2,
		       const char *colour)
{
	fprintf(file,
		"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
		x1, y1, x2, y2, colour);
}

static void print_below(FILE *file, const struct axes *axes)
{
	int powers = (int)(axes->most_x - axes->least_x);
	int step = (powers + MOST_LABELS - 1) / MOST_LABELS;

	for (double power = axes->least_x; power <= axes->most_x; power += step) {
		double x = x_of(axes, exp2(power));

		print_line(file, x, TOP, x, BOTTOM, "#e0e0e0");
		fprintf(file,
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" font-size=\"12\">",
			x, BOTTOM + 18);
		print_size(file, exp2(power));
		fputs("</text>\n", file);
	}
}

static void print_left(FILE *file, const struct axes *axes)
{
	for (double power = axes->least_y; power <= axes->most_y; power++) {
		double y = y_of(axes, pow(10, power));

		for (int part = 2; part < 10 && power < axes->most_y; part++) {
			double between = y_of(axes, part * pow(10, power));

			print_line(file, LEFT, between, RIGHT, between,
				   "#f2f2f2");
		}
		print_line(file, LEFT, y, RIGHT, y, "#c8c8c8");
		fprintf(file,
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" font-size=\"12\">",
			LEFT - 8, y + 4);
		print_time(file, pow(10, power));
		fputs("</text>\n", file);
	}
}

static bool chosen_with_sizes(const struct options *options, bool sliced)
{
	for (int i = 0; i < OPERATIONS; i++)
		if (options->chosen[i] && operations[i].sized &&
		    operations[i].sliced == sliced)
			return true;
	return false;
}

static const char *what_size_is(const struct options *options)
{
	bool per_rank = options->format == FORMAT_OSU;

	if (!chosen_with_sizes(options, true))
		return "bytes of the buffer";
	if (!chosen_with_sizes(options, false))
		return per_rank ? "bytes of each rank's slice"
				: "bytes of all ranks' slices";
	return per_rank ? "bytes of each rank's slice, or of the one buffer"
			: "bytes of all ranks' slices, or of the one buffer";
}

static void print_titles(FILE *file, const struct report *report)
{
	const struct options *options = report->options;

	fprintf(file,
		"<text x=\"%d\" y=\"28\" font-size=\"18\">Time of a call: %d ranks on %d %s, platform %s, %s</text>\n",
		LEFT, options->nranks, report->cpus,
		report->cpus == 1 ? "CPU" : "CPUs", report->platform,
		pld_dtype_name(options->dtype));
	fprintf(file,
		"<text x=\"%d\" y=\"48\" font-size=\"12\" fill=\"#505050\">mean over the ranks; lower is better; both axes are logarithmic</text>\n",
		LEFT);
	fprintf(file,
		"<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-size=\"14\">size (%s)</text>\n",
		(LEFT + RIGHT) / 2, BOTTOM + 44, what_size_is(options));
	fprintf(file,
		"<text transform=\"translate(24 %d) rotate(-90)\" text-anchor=\"middle\" font-size=\"14\">time</text>\n",
		(TOP + BOTTOM) / 2);
}

static void print_marker(FILE *file, size_t line, double x, double y)
{
	switch (line % SHAPES) {
	case 0:
		fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x, y);
		return;
	case 1:
		fprintf(file,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"7\" height=\"7\"/>",
			x - 3.5, y - 3.5);
		return;
	case 2:
		fprintf(file, "<path d=\"M%.1f %.1fl4.5 8h-9z\"/>", x, y - 5);
		return;
	default:
		fprintf(file,
			"<path d=\"M%.1f %.1fl4.5 4.5-4.5 4.5-4.5-4.5z\"/>", x,
			y - 4.5);
	}
}

static void print_points(FILE *file, const struct report *report,
			 const struct axes *axes,
			 const struct operation *operation, size_t line)
{
	const struct result *results = report->results;

	fputs("<polyline fill=\"none\" stroke-width=\"2\" points=\"", file);
	for (size_t i = 0; i < report->count; i++)
		if (results[i].operation == operation && has_point(&results[i]))
			fprintf(file, "%.1f,%.1f ",
				x_of(axes, size_of(report, &results[i])),
				y_of(axes, results[i].us));
	fputs("\"/>\n", file);
	for (size_t i = 0; i < report->count; i++) {
		if (results[i].operation != operation || !has_point(&results[i]))
			continue;
		print_marker(file, line,
			     x_of(axes, size_of(report, &results[i])),
			     y_of(axes, results[i].us));
		fputc('\n', file);
	}
}

static void print_operation(FILE *file, const struct report *report,
			    const struct axes *axes,
			    const struct operation *operation, size_t line)
{
	const char *colour = colours[line % COLOURS];
	int y = TOP + 12 + (int)line * LEGEND_STEP;

	fprintf(file, "<g stroke=\"%s\" fill=\"%s\">\n", colour, colour);
	print_points(file, report, axes, operation, line);
	print_line(file, LEGEND_LEFT, y, LEGEND_LEFT + 30, y, colour);
	print_marker(file, line, LEGEND_LEFT + 15, y);
	fprintf(file,
		"\n</g>\n<text x=\"%d\" y=\"%d\" font-size=\"14\">%s</text>\n",
		LEGEND_LEFT + 38, y + 5, operation->name);
}

static void print_operations(FILE *file, const struct report *report,
			     const struct axes *axes)
{
	size_t line = 0;

	for (int i = 0; i < OPERATIONS; i++)
		if (report->options->chosen[i] && operations[i].sized)
			print_operation(file, report, axes, &operations[i],
					line++);
}

bool plot_write(const struct report *report, FILE *file)
{
	struct axes axes = axes_of(report);

	fprintf(file,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
	print_titles(file, report);
	if (isfinite(axes.least_x)) {
		print_left(file, &axes);
		print_below(file, &axes);
		print_operations(file, report, &axes);
	}
	fprintf(file,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#404040\"/>\n</svg>\n",
		LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
	return !ferror(file);
}
