/* A terminal as a screen of lines. The only place that knows ncurses; without it there is no screen. One
 * thread uses it. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

enum terminal_style { TERMINAL_PLAIN, TERMINAL_BOLD, TERMINAL_CHOSEN };

/* Keys beyond characters. */
enum terminal_key {
    TERMINAL_NO_KEY = -1,
    TERMINAL_BACK = 27, /* Esc, Backspace */
    TERMINAL_ENTER = '\n',
    TERMINAL_UP = 0x110000, /* beyond Unicode */
    TERMINAL_DOWN,
    TERMINAL_PAGE_UP,
    TERMINAL_PAGE_DOWN,
};

/* False: this program was built without ncurses. */
bool terminal_is_built(void);
/* Takes standard input and output. False: the terminal is of no known kind. Catch signals that end the
 * program before, and call terminal_close before it ends by one. */
bool terminal_open(void);
/* Puts the terminal back as it was. */
void terminal_close(void);

int terminal_lines(void);
int terminal_columns(void);
void terminal_clear(void);
/* As much of the text as the line has cells for. A line that is not there is left out. */
void terminal_put(int line, const char *text, enum terminal_style style);
/* Shows what was put. */
void terminal_show(void);
/* The next key that was pressed, or TERMINAL_NO_KEY; never waits. */
int terminal_key(void);

#endif
