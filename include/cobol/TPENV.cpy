      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> For TP_OPEN.
       01 TP-ENV.
           05 FILLER PIC S9(9) COMP-5 VALUE 2052.
      *> An ODBC connection string, and Dialect=, Prefix=, Plan=.
           05 TPE-DSN PIC X(2048) VALUE SPACES.
