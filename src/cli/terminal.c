/* See terminal.h. */
#include "terminal.h"

#ifdef TASKPOOL_CURSES

#include <curses.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistr.h>
#include <uniwidth.h>

#include "common/escape.h"
#include "common/messages.h"

enum { ESCAPE_MS = 50 }; /* an Esc alone is the key; with more behind it, it begins another key */

static SCREEN *screen;

bool terminal_is_built(void) {
    return true;
}

bool terminal_open(void) {
    (void)setlocale(LC_CTYPE, "");
    screen = newterm(NULL, stdout, stdin);
    if (!screen) return false;
    (void)set_escdelay(ESCAPE_MS);
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)curs_set(0);
    return true;
}

void terminal_close(void) {
    (void)endwin();
    delscreen(screen);
    screen = NULL;
}

int terminal_lines(void) {
    return LINES;
}

int terminal_columns(void) {
    return COLS;
}

void terminal_clear(void) {
    (void)erase();
}

void terminal_put(int line, const char *text, enum terminal_style style) {
    char *shown = cli_must(escape_text(text));
    const uint8_t *at = (const uint8_t *)shown;
    int cells = 0, attribute = style == TERMINAL_BOLD ? A_BOLD : style == TERMINAL_CHOSEN ? A_REVERSE : 0;

    while (*at) {
        ucs4_t character;
        int bytes = u8_strmbtouc(&character, at);
        int width = bytes > 0 ? uc_width(character, "UTF-8") : 0;

        if (bytes <= 0 || cells + width > COLS) break;
        cells += width > 0 ? width : 0;
        at += bytes;
    }
    if (line >= 0 && line < LINES) {
        (void)attrset(attribute);
        (void)mvaddnstr(line, 0, shown, (int)(at - (const uint8_t *)shown));
        if (cells < COLS) (void)clrtoeol();
        (void)attrset(A_NORMAL);
    }
    free(shown);
}

/* Curses stops the program at once for Ctrl-Z, but forgets it while it draws: so it comes before or after. */
void terminal_show(void) {
    sigset_t stop, before;

    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTSTP);
    (void)sigprocmask(SIG_BLOCK, &stop, &before);
    (void)refresh();
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

int terminal_key(void) {
    int key = getch();

    switch (key) {
    case ERR:
        return TERMINAL_NO_KEY;
    case KEY_UP:
        return TERMINAL_UP;
    case KEY_DOWN:
        return TERMINAL_DOWN;
    case KEY_PPAGE:
        return TERMINAL_PAGE_UP;
    case KEY_NPAGE:
        return TERMINAL_PAGE_DOWN;
    case KEY_BACKSPACE:
    case '\b':
    case 127:
        return TERMINAL_BACK;
    case KEY_ENTER:
    case '\r':
        return TERMINAL_ENTER;
    default:
        return key;
    }
}

#else

bool terminal_is_built(void) {
    return false;
}

bool terminal_open(void) {
    return false;
}

void terminal_close(void) {
}

int terminal_lines(void) {
    return 0;
}

int terminal_columns(void) {
    return 0;
}

void terminal_clear(void) {
}

void terminal_put(int line, const char *text, enum terminal_style style) {
    (void)line;
    (void)text;
    (void)style;
}

void terminal_show(void) {
}

int terminal_key(void) {
    return TERMINAL_NO_KEY;
}

#endif
