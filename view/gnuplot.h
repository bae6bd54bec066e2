/* view/gnuplot.h: the program that draws pictures: texts for its scripts, and running it. */
#ifndef AT_VIEW_GNUPLOT_H
#define AT_VIEW_GNUPLOT_H

#include "view/view.h"

/* What a text is for. A tic's label is a format to gnuplot. */
typedef enum at_gnuplot_label { AT_GNUPLOT_TITLE, AT_GNUPLOT_TIC } at_gnuplot_label;

/* Any text as a string constant of gnuplot that is drawn as it is: one line, visible, and cut where
 * it is too long to be read. Nothing of it is taken for a command, a format or markup. */
void at_text_add_gnuplot(at_text *out, const char *text, at_gnuplot_label label);

/* Runs a script without anybody's start-up file and adds what it draws to out. path names it in
 * errors. AT_E_USAGE: there is no gnuplot; AT_E_OUTPUT: it failed. */
at_status at_gnuplot_run(const at_text *script, const char *path, at_text *out, at_error *err);

/* The beginning of a script whose plots stand in columns and rows; the ending of path says the
 * format. It ends with "unset multiplot". (plot_file.c) */
void at_picture_head(at_text *script, const char *path, int columns, int rows);
/* Runs it and writes the picture. AT_E_USAGE: so many rows are too many; as at_plot_file. */
at_status at_picture_draw(const at_text *script, const char *path, int rows,
                          const at_output_rules *rules, at_error *err);

#endif
