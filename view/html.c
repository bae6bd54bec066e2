/* view/html.c: a page that needs nothing but itself: no script, no font, no network. */
#include "view/html.h"

#include <stdlib.h>
#include <string.h>

void at_html_add(at_text *out, const char *text) {
    char spelled[AT_VISIBLE_BYTES];
    for (const char *end = text + strlen(text); text < end;) {
        int n = at_visible_next(&text, end, true, spelled);
        switch (*spelled) {
        case '&': at_text_add(out, "&amp;"); break;
        case '<': at_text_add(out, "&lt;"); break;
        case '>': at_text_add(out, "&gt;"); break;
        case '"': at_text_add(out, "&quot;"); break;
        default: at_text_addn(out, spelled, (size_t)n);
        }
    }
}

void at_html_addf(at_text *out, const char *fmt, ...) {
    va_list ap;
    char *text;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    AT_ASSERT(n >= 0);
    at_html_add(out, text);
    free(text);
}

/* Colours of series are Okabe and Ito's, which the colour-blind tell apart. */
static const char style[] =
    ":root{color-scheme:light dark;--back:#fff;--text:#1c2024;--faint:#5b6570;--line:#d8dde2;"
    "--card:#f5f7f9;--bad:#b3261e;--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#cc79a7;"
    "--s4:#b8860b;--s5:#3a9bd9}\n"
    "@media (prefers-color-scheme:dark){:root{--back:#14181c;--text:#e4e8ec;--faint:#9aa5b0;"
    "--line:#343c44;--card:#1d2329;--bad:#ff8a80;--s0:#56b4e9;--s1:#ff9a4d;--s2:#35c79b;"
    "--s3:#e6a3c8;--s4:#e6c04a;--s5:#9ad1f5}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:78rem;padding:1rem;background:var(--back);color:var(--text);"
    "font:16px/1.45 system-ui,sans-serif}\n"
    "h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.25rem;margin:2.5rem 0 .25rem;"
    "border-top:1px solid var(--line);padding-top:1rem;overflow-wrap:anywhere}"
    "h3{font-size:1.05rem;margin:1.5rem 0 .5rem}\n"
    "p{margin:.4rem "
    "0;max-width:60rem}.faint,small{color:var(--faint);font-weight:normal}.bad{color:var(--bad)}\n"
    ".where{margin-top:2rem;font-weight:600}h2+.where{margin-top:.25rem;font-weight:normal}\n"
    "a{color:var(--s0)}\n"
    ".facts{display:flex;flex-wrap:wrap;gap:.5rem;margin:1rem 0}\n"
    ".facts div{background:var(--card);border-radius:.5rem;padding:.5rem .9rem;flex:1 1 8rem}\n"
    ".facts b{display:block;font-size:1.35rem;line-height:1.2}\n"
    "pre{background:var(--card);border-radius:.5rem;padding:.7rem;overflow-x:auto;margin:.5rem 0;"
    "font:.85rem/1.4 ui-monospace,monospace}pre.wrap{white-space:pre-wrap;overflow-wrap:anywhere}\n"
    ".texts{display:flex;flex-wrap:wrap;gap:.5rem;align-items:flex-start}.texts>*{flex:1 1 22rem;"
    "min-width:0}.texts>details:not([open]){flex:0 1 auto}.texts "
    "pre{max-height:40rem;overflow:auto}"
    "summary{cursor:pointer;color:var(--s0);padding:.5rem 0}.verdict{font-size:1.05rem}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem}.knob{width:100%}"
    "th{font-weight:600;text-align:right;color:var(--faint)}"
    "td{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
    "th,td{padding:.15rem .7rem .15rem 0}"
    "th:first-child,td:first-child,td.text,th.text{text-align:left}"
    "td.text{white-space:normal;min-width:14rem}\n"
    "td.name{white-space:normal;overflow-wrap:anywhere;min-width:10rem}td.by,th.by{text-align:left;"
    "color:var(--faint);white-space:normal;overflow-wrap:anywhere}\n"
    ".bar{min-width:8rem;width:40%}.bar i{display:block;height:.7rem;background:var(--line);"
    "border-radius:2px}.bar i i{background:var(--s0)}\n"
    ".pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr));"
    "gap:1rem}\n"
    "svg{width:100%;max-width:40rem;height:auto;display:block}svg text{fill:var(--faint);font:13px "
    "system-ui,"
    "sans-serif}.grid{stroke:var(--line);fill:none}.axis{stroke:var(--faint);fill:none}"
    ".best{fill:none;stroke-width:2}.dots{fill:none;stroke-width:3.5;stroke-linecap:round;"
    "opacity:.45}.failed{stroke:var(--bad);stroke-width:1.2;fill:none}\n"
    ".c0{stroke:var(--s0)}.c1{stroke:var(--s1)}.c2{stroke:var(--s2)}.c3{stroke:var(--s3)}"
    ".c4{stroke:var(--s4)}.c5{stroke:var(--s5)}\n"
    ".strong{stroke-width:5;opacity:.7}\n"
    ".wide{max-width:none}rect{stroke:var(--back);stroke-width:.3}"
    ".f0{fill:var(--s0)}.f1{fill:var(--s1)}.f2{fill:var(--s2)}.f3{fill:var(--s3)}"
    ".f4{fill:var(--s4)}.f5{fill:var(--s5)}\n"
    "@media (max-width:32rem){body{padding:.7rem}th,td{padding-right:.45rem;font-size:.8rem}"
    ".bar{min-width:3rem}td.text{min-width:9rem}}\n"
    ".key{list-style:none;padding:0;margin:.3rem 0;font-size:.9rem}"
    ".key svg{display:inline-block;width:1.6rem;height:.7rem;margin-right:.4rem}\n"
    "@media print{:root{color-scheme:light;--back:#fff;--text:#000;--faint:#444;--line:#bbb;"
    "--card:#f5f5f5;--bad:#a00;--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#cc79a7;--s4:#b8860b;"
    "--s5:#3a9bd9}body{max-width:none;padding:0;font-size:11pt}pre{white-space:pre-wrap}"
    "h2,h3,h3+p{break-after:avoid}table,.facts,svg,pre,.scroll{break-inside:avoid}"
    ".scroll{overflow:visible}th,td{font-size:.75rem;padding-right:.4rem}.knobs{display:block;"
    "columns:2}.bar{min-width:3rem}"
    ".facts div,pre,.bar i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n";

void at_html_head(at_text *out, const char *title) {
    at_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<title>");
    at_html_add(out, title);
    at_text_add(out, "</title>\n<style>\n");
    at_text_add(out, style);
    at_text_add(out, "</style>\n</head>\n<body>\n");
}

void at_html_end(at_text *out) { at_text_add(out, "</body>\n</html>\n"); }

static double place_of(const at_svg_axis *x, double number) {
    return x->left + number / x->to * (x->right - x->left);
}

void at_svg_add_axis(at_text *out, const at_svg_axis *x) {
    at_text_addf(out, "<path class=\"axis\" d=\"M%d %dH%d\"/>\n", x->left, x->bottom, x->right);
    for (int k = 0; k * x->step <= x->to * 1.0001; k++) {
        const double at = place_of(x, k * x->step);
        at_text_addf(out,
                     "<path class=\"axis\" d=\"M%.1f %dv4\"/>"
                     "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.6g</text>\n",
                     at, x->bottom, at, x->bottom + 17, k * x->step);
    }
    at_text_addf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", x->right,
                 x->bottom + 33, x->unit);
}
