      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> A statement of the program's own, for TP_EXECUTE. Its ? are
      *> the values, in their order.
       01 TP-STMT.
           05 FILLER PIC S9(9) COMP-5 VALUE 12336.
      *> How many values.
           05 TPQ-COUNT PIC S9(9) COMP-5 VALUE 0.
      *> Rows changed, -1: not known; of a query 1 or 0.
           05 TPQ-ROWS PIC S9(9) COMP-5 VALUE 0.
      *> Columns of a query's row, in RESULT.
           05 TPQ-COLUMNS PIC S9(9) COMP-5 VALUE 0.
           05 TPQ-TEXT PIC X(4000) VALUE SPACES.
           05 TPQ-KIND PIC S9(9) COMP-5 OCCURS 16 TIMES VALUE 0.
               88 TPQ-KIND-TEXT VALUE 0.
               88 TPQ-KIND-NUMBER VALUE 1.
               88 TPQ-KIND-NULL VALUE 2.
           05 TPQ-VALUE PIC X(256) OCCURS 16 TIMES VALUE SPACES.
      *> 1: the column is NULL.
           05 TPQ-IS-NULL PIC S9(9) COMP-5 OCCURS 16 TIMES VALUE 0.
           05 TPQ-RESULT PIC X(256) OCCURS 16 TIMES VALUE SPACES.
