/* schedule/schedule.h: the two notations. C-like tensor expressions say *what* is computed, the
 * loop tree says *how*. Texts are parsed once per task; per configuration the tree is built with
 * numbers and verified.
 *
 *   compute := (decl | stage | function)*
 *   decl    := name ["[" extent ("," extent)* "]"] ":"
 *              ("input" [type | "s64"] | "weight" [type] | "index" ["s64"])
 *   type    := "f32" | "s32" | "s16" | "s8" | "u8" | "bool" | "f16" | "bf16"
 *   stage   := name "[" axis ("," axis)* "]" [kind] "=" [reduction] expr ["where" def ("," def)*]
 *            | name "[" at ("," at)* "]" [kind] ("+=" | "max=" | "min=") "(" red ("," red)* ")"
 *              expr
 *              ["where" def ("," def)*]
 *            | name "[" axis ("," axis)* "]" "=" "{" ["-"] number ("," ["-"] number)* "}"
 *   kind    := ":" "output" [type] | ":" "in" name | ":" type
 *   axis    := name ":" extent
 *   at      := axis | expr ":" extent
 *   reduction := ("sum" | "max" | "min" | "prod") "(" red ("," red)* ")"
 *   function := "def" name "(" name ("," name)* ")" "=" expr
 *   red     := name ":" (extent | expr ".." expr)
 *   def     := name "=" expr
 *            | "{" name [":" extent] ("," name ":" extent)* "}" "=" expr
 *
 * # begins a comment. An index tensor holds int32. An extent is an expression of sizes; a reduction
 * from .. to runs to the value before `to`, and its bounds may use earlier axes and index tensors.
 * Braces define the digits of a number, outer first. In a stage, axes hide sizes of their name.
 * Indices are divided by expressions of sizes only, values have no remainder.
 *
 *   tree    := line*                                  children stand 4 blanks deeper
 *   line    := item ("," item)* "=>" (leaf | newline tree) | leaf
 *   item    := name [":" ann] | "{" name ("," name)* "}" [":" ann]
 *            | "{" name [":" integer] ("," name [":" integer])* "}" [mark]
 *            | "[" item ("," item)* "]" ":" "order" "(" size ")"
 *   ann     := "para" | "vec" | "unroll" | "dot" | "ann" "(" size ")"
 *            | integer [mark] | "dyn(" name ("," name)* ")" [mark]
 *   mark    := "para" | "vec" | "unroll" | "dot"
 *   leaf    := "@" stage [".init"] attr* "=" index ("," index)* ["//" index ("," index)*]
 *   attr    := "[" "prefetch" tensor (integer | size) "]"   reads of tensor ask for what lies that
 *                                                            many bytes ahead; 0: not
 *            | "[" "dense" "]"                               rows of its storage follow each other
 *            | "[" "pad" (integer | size) "]"                with so many elements between
 *            | "[" "order" axis+ "]"                         its axes in storage, slowest first
 *            | "[" "pointers" tensor "]"                     reads of tensor go by a list of places
 *   index   := name | "0" | "{" name ("," name)* "}" ["/"] [axis]
 *
 * Lines of one parent run in textual order; a line may go on after a comma. An item in braces is
 * one loop over the product of its members. Behind // stand the reductions; braces in an index are
 * digits, outer first; 0 is an axis of extent 1 without a loop. A name in a tree denotes a piece of
 * an axis: a split part or size of that name gives its extent; a name without one is a whole axis
 * of that name. Legality: rules 1 to 10 of verify.c. */
#ifndef AT_SCHEDULE_H
#define AT_SCHEDULE_H

#include "schedule/compute.h"
#include "schedule/compute_facts.h"
#include "schedule/compute_c.h"
#include "schedule/tree.h"
#include "schedule/program.h"

#endif
