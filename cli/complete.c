/* cli/complete.c: completions for bash, zsh and fish, from the tables of options and verbs and from
 * the registries. */
#include "cli/commands.h"

#include <string.h>

#include "templates/task.h"

/* Of a name that a template has, too, the template stands there. */
static bool is_operator_alone(int i) {
    const at_template_row *row;
    return at_template_find(at_operator_name(at_operator_at(i)), &row, NULL) != AT_OK;
}

static void add_templates(at_text *out) {
    for (int i = 0; i < at_template_count(); i++)
        at_text_addf(out, "%s%s", i ? " " : "", at_template_at(i)->name);
    for (int i = 0; i < at_operator_count(); i++)
        if (is_operator_alone(i)) at_text_addf(out, " %s", at_operator_name(at_operator_at(i)));
}

static bool has_words(const at_option_row *row) { return at_option_word(row, 0) != NULL; }

/* "--log|--output|-o" of the options that take a file, or that take a word. */
static const char *what_follows(const at_verb_row *verb) {
    if (strstr(verb->operands, "TEMPLATE")) return "templates";
    if (strstr(verb->operands, "VERB")) return "verbs";
    return *verb->operands ? "files" : "nothing";
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_names(at_text *out, const at_option_row *row) {
    at_text_add(out, row->name);
    if (at_option_letter(row)) at_text_addf(out, "|-%c", at_option_letter(row));
}

static void bash_values(at_text *out) {
    at_text_add(out, "    case $prev in\n");
    for (int i = 0; i < at_option_count(); i++) {
        const at_option_row *row = at_option_at(i);
        if (!row->argument) continue;
        at_text_add(out, "    ");
        bash_names(out, row);
        if (has_words(row)) {
            at_text_add(out, ") mapfile -t COMPREPLY < <(compgen -W '");
            at_option_words(row, " ", out);
            at_text_add(out, "' -- \"$cur\"); return ;;\n");
        } else if (at_option_takes_file(row)) {
            at_text_add(out, ") _autotune_files; return ;;\n");
        } else at_text_add(out, ") return ;;\n");
    }
    at_text_add(out, "    esac\n");
}

static void bash(at_text *out) {
    at_text_add(out,
                "# bash completion for autotune: what `autotune help --as bash` prints\n\n"
                "_autotune_files() {\n"
                "    compopt -o filenames 2>/dev/null\n"
                "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n}\n\n"
                "_autotune() {\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i verb=\n"
                "    local options= operands= templates='");
    add_templates(out);
    at_text_add(out, "' verbs='");
    for (int v = 0; v < AT_VERB_COUNT; v++)
        at_text_addf(out, "%s%s", v ? " " : "", at_verb_at((at_verb)v)->name);
    at_text_add(out, "'\n    COMPREPLY=()\n"
                     "    [[ $cur == = ]] && cur=\n"
                     "    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n");
    bash_values(out);
    at_text_add(out, "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                     "        [[ ${COMP_WORDS[i]} == -* ]] || { verb=${COMP_WORDS[i]}; break; }\n"
                     "    done\n    case $verb in\n    '') options=--help; operands=\"$verbs "
                     "$templates\" ;;\n");
    for (int v = AT_VERB_COUNT - 1; v >= 0; v--) { /* tune last: any other word is a template */
        const at_verb_row *verb = at_verb_at((at_verb)v);
        at_text_addf(out, "    %s) options='", v == AT_VERB_TUNE ? "*" : verb->name);
        for (int i = 0; i < at_option_count(); i++)
            if (at_option_is_of(at_option_at(i), (at_verb)v))
                at_text_addf(out, " %s", at_option_at(i)->name);
        const char *next = what_follows(verb);
        at_text_addf(out, "'; operands=%s%s%s ;;\n", !strcmp(next, "nothing") ? "" : "\"$",
                     !strcmp(next, "nothing") ? "" : next, !strcmp(next, "nothing") ? "" : "\"");
    }
    at_text_add(out, "    esac\n"
                     "    if [[ $cur == -* ]]; then\n"
                     "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
                     "    elif [[ $operands ]]; then\n"
                     "        mapfile -t COMPREPLY < <(compgen -W \"$operands\" -- \"$cur\")\n"
                     "    fi\n"
                     "    # logs and the user's own templates\n"
                     "    [[ ${#COMPREPLY[@]} -gt 0 || $cur == -* ]] || _autotune_files\n}\n\n"
                     "complete -F _autotune autotune\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Within single quotes, and with the characters that _arguments and _describe understand. */
static void zsh_text(at_text *out, const char *text) {
    for (const char *s = text; *s; s++) {
        if (*s == '\'') at_text_add(out, "'\\''");
        else {
            if (strchr("[]:\\", *s)) at_text_add(out, "\\");
            at_text_addn(out, s, 1);
        }
    }
}

static void zsh_option(at_text *out, const at_option_row *row, at_verb v) {
    at_text help = at_option_help(row, v);
    at_text_addf(out, " \\\n            '%s%s[", row->name, row->argument ? "=" : "");
    zsh_text(out, at_text_str(&help));
    at_text_add(out, "]");
    at_text_free(&help);
    if (row->argument) {
        at_text_add(out, ":");
        zsh_text(out, row->argument);
        at_text_add(out, ":");
        if (has_words(row)) {
            at_text_add(out, "(");
            at_option_words(row, " ", out);
            at_text_add(out, ")");
        } else if (at_option_takes_file(row)) at_text_add(out, "_files");
    }
    at_text_add(out, "'");
}

static void zsh_described(at_text *out, const char *name, const char *help) {
    at_text_addf(out, "\n        '%s:", name);
    zsh_text(out, help);
    at_text_add(out, "'");
}

static void zsh(at_text *out) {
    at_text_add(out, "#compdef autotune\n"
                     "# zsh completion for autotune: what `autotune help --as zsh` prints\n\n"
                     "_autotune() {\n    local verb= word\n    local -a verbs templates\n"
                     "    verbs=(");
    for (int v = 0; v < AT_VERB_COUNT; v++)
        zsh_described(out, at_verb_at((at_verb)v)->name, at_verb_at((at_verb)v)->help);
    at_text_add(out, ")\n    templates=(");
    for (int i = 0; i < at_template_count(); i++)
        zsh_described(out, at_template_at(i)->name, at_template_at(i)->help);
    for (int i = 0; i < at_operator_count(); i++)
        if (is_operator_alone(i))
            zsh_described(out, at_operator_name(at_operator_at(i)),
                          at_operator_help(at_operator_at(i)));
    at_text_add(out, ")\n    for word in ${words[2,CURRENT-1]}; do\n"
                     "        [[ $word == -* ]] || { verb=$word; break }\n    done\n"
                     "    case $verb in\n    '')\n"
                     "        _describe -t commands command verbs\n"
                     "        _describe -t templates template templates\n"
                     "        _files -g '*.c' ;;\n");
    for (int v = AT_VERB_COUNT - 1; v >= 0; v--) {
        const at_verb_row *verb = at_verb_at((at_verb)v);
        const char *next = what_follows(verb);
        at_text_addf(out, "    %s)\n        _arguments", v == AT_VERB_TUNE ? "*" : verb->name);
        for (int i = 0; i < at_option_count(); i++)
            if (at_option_is_of(at_option_at(i), (at_verb)v))
                zsh_option(out, at_option_at(i), (at_verb)v);
        if (!strcmp(next, "files")) at_text_add(out, " \\\n            '*:log:_files'");
        else if (strcmp(next, "nothing") != 0)
            at_text_addf(out, " \\\n            \"*:word:(${(j: :)${%s%%%%:*}})\"", next);
        at_text_add(out, " ;;\n");
    }
    at_text_add(out, "    esac\n}\n\n"
                     "if [[ $funcstack[1] == _autotune ]]; then _autotune \"$@\"\n"
                     "else compdef _autotune autotune; fi\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_text(at_text *out, const char *text) {
    at_text_add(out, "'");
    for (const char *s = text; *s; s++) {
        if (*s == '\'' || *s == '\\') at_text_add(out, "\\");
        at_text_addn(out, s, 1);
    }
    at_text_add(out, "'");
}

static void fish_option(at_text *out, const at_option_row *row, at_verb v) {
    at_text help = at_option_help(row, v);
    at_text_addf(out, "complete -c autotune -n '__autotune_verb %s' -l %s", at_verb_at(v)->name,
                 row->name + 2);
    if (at_option_letter(row)) at_text_addf(out, " -s %c", at_option_letter(row));
    if (has_words(row)) {
        at_text_add(out, " -x -a '");
        at_option_words(row, " ", out);
        at_text_add(out, "'");
    } else if (row->argument) at_text_add(out, at_option_takes_file(row) ? " -r -F" : " -x");
    at_text_add(out, " -d ");
    fish_text(out, at_text_str(&help));
    at_text_add(out, "\n");
    at_text_free(&help);
}

static void fish_word(at_text *out, const char *condition, const char *name, const char *help) {
    at_text_addf(out, "complete -c autotune -n '%s' -a %s -d ", condition, name);
    fish_text(out, help);
    at_text_add(out, "\n");
}

static void fish_words(at_text *out, const char *condition) {
    for (int i = 0; i < at_template_count(); i++)
        fish_word(out, condition, at_template_at(i)->name, at_template_at(i)->help);
    for (int i = 0; i < at_operator_count(); i++)
        if (is_operator_alone(i))
            fish_word(out, condition, at_operator_name(at_operator_at(i)),
                      at_operator_help(at_operator_at(i)));
}

static void fish(at_text *out) {
    at_text_add(out, "# fish completion for autotune: what `autotune help --as fish` prints\n\n"
                     "# Is this the command? A word that is none stands for tune.\n"
                     "function __autotune_verb\n"
                     "    for word in (commandline -opc)[2..-1]\n"
                     "        string match -q -- '-*' $word; and continue\n"
                     "        contains -- $word");
    for (int v = 0; v < AT_VERB_COUNT; v++) at_text_addf(out, " %s", at_verb_at((at_verb)v)->name);
    at_text_add(out,
                "; or set word tune\n"
                "        contains -- $word $argv; return\n"
                "    end\n"
                "    contains -- none $argv\n"
                "end\n\n"
                "complete -c autotune -n '__autotune_verb none' -l help -d 'list the commands'\n");
    for (int v = 0; v < AT_VERB_COUNT; v++) {
        at_text_addf(out, "complete -c autotune -n '__autotune_verb none' -a %s -d ",
                     at_verb_at((at_verb)v)->name);
        fish_text(out, at_verb_at((at_verb)v)->help);
        at_text_add(out, "\n");
    }
    fish_words(out, "__autotune_verb none");
    for (int v = 0; v < AT_VERB_COUNT; v++) {
        const char *next = what_follows(at_verb_at((at_verb)v));
        at_text condition = {0};
        at_text_addf(&condition, "__autotune_verb %s", at_verb_at((at_verb)v)->name);
        for (int i = 0; i < at_option_count(); i++)
            if (at_option_is_of(at_option_at(i), (at_verb)v))
                fish_option(out, at_option_at(i), (at_verb)v);
        if (!strcmp(next, "templates")) fish_words(out, at_text_str(&condition));
        if (!strcmp(next, "verbs"))
            for (int w = 0; w < AT_VERB_COUNT; w++)
                at_text_addf(out, "complete -c autotune -n '%s' -a %s\n", at_text_str(&condition),
                             at_verb_at((at_verb)w)->name);
        at_text_free(&condition);
    }
}

void at_complete(at_text *out, at_help_as shell) {
    if (shell == AT_HELP_BASH) bash(out);
    else if (shell == AT_HELP_ZSH) zsh(out);
    else fish(out);
}
