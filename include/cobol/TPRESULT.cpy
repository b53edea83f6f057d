      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> What a task gives back, for TP_RESULT and TP_AWAIT.
       01 TP-RESULT.
           05 FILLER PIC S9(9) COMP-5 VALUE 24.
      *> LENGTH OF the field for the result, which is an argument.
           05 TPR-RESULT-SIZE PIC S9(9) COMP-5 VALUE 0.
      *> TP_RESULT: 0: without trailing blanks; else exactly.
           05 TPR-RESULT-LENGTH PIC S9(9) COMP-5 VALUE 0.
      *> TP_AWAIT: bytes of the result before blanks.
           05 TPR-FOUND-LENGTH PIC S9(9) COMP-5 VALUE 0.
      *> TP_AWAIT: how long it waits at most.
           05 TPR-WAIT-MS PIC S9(18) COMP-5 VALUE 0.
