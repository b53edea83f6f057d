      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> TPLIMITS: what the library takes at most. Texts in bytes,
      *> times in milliseconds.
       01 TP-LIMITS.
           05 TP-HANDLER-MAX PIC S9(9) COMP-5 VALUE 64.
           05 TP-KEY-MAX PIC S9(9) COMP-5 VALUE 128.
           05 TP-REASON-MAX PIC S9(9) COMP-5 VALUE 512.
           05 TP-STEP-NAME-MAX PIC S9(9) COMP-5 VALUE 64.
           05 TP-PARAMS-MAX PIC S9(9) COMP-5 VALUE 1048576.
           05 TP-PREFIX-MAX PIC S9(9) COMP-5 VALUE 16.
           05 TP-DURATION-MAX PIC S9(18) COMP-5 VALUE 3155760000000.
           05 TP-TIME-MAX PIC S9(18) COMP-5 VALUE 253402300799999.
