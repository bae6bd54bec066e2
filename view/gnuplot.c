/* view/gnuplot.c: gnuplot gets a script of ours on its standard input and draws to its standard
 * output, a file in memory: no name of a file reaches it. Texts of files reach it as constants. */
#include "view/gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- texts ----------------------------------------------------------------------------------- */

/* In bytes. A label that holds a format goes through a buffer of 50 bytes in gnuplot. */
enum { LONGEST = 240, LONGEST_FORMAT = 45 };

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Between double quotes gnuplot expands backquotes and backslashes, and between single ones '' ends
 * the text in places. So all but letters and blanks is written as the octal number of its byte,
 * digits as well, since a digit behind such a number would belong to it. */
static void add_byte(at_text *out, char c) {
    if (is_letter(c) || c == ' ') at_text_addn(out, &c, 1);
    else at_text_addf(out, "\\%03o", (unsigned)(unsigned char)c);
}

void at_text_add_gnuplot(at_text *out, const char *text, at_gnuplot_label label) {
    bool format = label == AT_GNUPLOT_TIC && strchr(text, '%');
    size_t most = format ? LONGEST_FORMAT : LONGEST, n = 0;
    const char *end = text + strlen(text);
    int brackets = 0;
    at_text_add(out, "\"");
    while (text < end) {
        char spelled[AT_VISIBLE_BYTES];
        int length = at_visible_next(&text, end, false, spelled);
        if (n + (size_t)length > most) {
            at_text_add(out, "\\056\\056\\056"); /* ... */
            break;
        }
        /* XML does not allow "]]>" in a text, and gnuplot does not know it. */
        if (brackets >= 2 && *spelled == '>') at_text_add(out, " ");
        brackets = *spelled == ']' ? brackets + 1 : 0;
        n += (size_t)length;
        for (int i = 0; i < length; i++) {
            if (spelled[i] == '%' && label == AT_GNUPLOT_TIC) add_byte(out, '%');
            add_byte(out, spelled[i]);
        }
    }
    at_text_add(out, "\"");
}

/* ---- the program ----------------------------------------------------------------------------- */

static int file_in_memory(const at_text *content) {
    int fd = memfd_create("gnuplot", MFD_CLOEXEC);
    if (fd < 0) return -1;
    for (size_t done = 0; content && done < content->len;) {
        ssize_t n = write(fd, content->data + done, content->len - done);
        if (n <= 0) return close(fd), -1;
        done += (size_t)n;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* 0, or errno of what kept it from running; *status: as of waitpid. */
static int run(int script, int picture, int messages, int *status) {
    extern char **environ;
    /* -d: neither the system's gnuplotrc nor a .gnuplot that lies about. */
    char *argv[] = {"gnuplot", "-d", NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return failed;
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
    return 0;
}

/* What gnuplot said, on one line. */
static void read_messages(int fd, char *out, size_t size) {
    ssize_t n = pread(fd, out, size - 1, 0);
    out[n > 0 ? n : 0] = 0;
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
}

static at_status take_picture(int fd, const char *path, at_text *out, at_error *err) {
    off_t size = lseek(fd, 0, SEEK_END);
    if (size <= 0) return at_fail(err, AT_E_OUTPUT, "%s: gnuplot drew nothing", path);
    char *data = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return at_fail(err, AT_E_OUTPUT, "%s: %s", path, strerror(errno));
    at_text_addn(out, data, (size_t)size);
    munmap(data, (size_t)size);
    return AT_OK;
}

at_status at_gnuplot_run(const at_text *script, const char *path, at_text *out, at_error *err) {
    int in = file_in_memory(script), picture = file_in_memory(NULL),
        messages = file_in_memory(NULL);
    int status = 0, failed = 0;
    char said[512] = "";
    at_status s = AT_OK;
    if (in < 0 || picture < 0 || messages < 0) failed = errno;
    else failed = run(in, picture, messages, &status);
    if (messages >= 0) read_messages(messages, said, sizeof said);
    if (failed == ENOENT)
        s = at_fail(err, AT_E_USAGE,
                    "--output %s: pictures are drawn by gnuplot, which is not "
                    "installed: apt-get install gnuplot-nox; without --output the plot is drawn "
                    "as text",
                    path);
    else if (failed) s = at_fail(err, AT_E_OUTPUT, "gnuplot: %s", strerror(failed));
    else if (WIFSIGNALED(status))
        s = at_fail(err, AT_E_BUG, "%s: gnuplot was ended by %s", path,
                    at_signal_name(WTERMSIG(status)));
    else if (status) s = at_fail(err, AT_E_OUTPUT, "%s: gnuplot failed: %s", path, said);
    else s = take_picture(picture, path, out, err);
    if (in >= 0) close(in);
    if (picture >= 0) close(picture);
    if (messages >= 0) close(messages);
    return s;
}
