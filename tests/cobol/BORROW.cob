      *> A program that has an ODBC connection of its own, as that of a
      *> precompiler's runtime, and lends it: its tasks are stored by
      *> its own commit, and gone by its own rollback.
      *>   SHOP_DSN: its connection; TASKPOOL_DSN: the pool there
       IDENTIFICATION DIVISION.
       PROGRAM-ID. BORROW.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       COPY TPAREA.
       COPY TPENV.
       COPY TPNEW.
       COPY TPSTMT.
       01  WS-ENV                  PIC S9(9) COMP-5 VALUE 0.
       01  WS-CONN                 PIC S9(9) COMP-5 VALUE 0.
       01  WS-HENV                 USAGE POINTER VALUE NULL.
       01  WS-HDBC                 USAGE POINTER VALUE NULL.
       01  WS-SHOP                 PIC X(2000).
       01  WS-SHORT                PIC S9(4) COMP-5.
       01  WS-LENGTH               PIC S9(9) COMP-5.
       01  WS-PARAMS               PIC X(40).
       PROCEDURE DIVISION.
       MAIN.
           PERFORM CONNECT-TO-SHOP
           ACCEPT TPE-DSN FROM ENVIRONMENT "TASKPOOL_DSN"
           CALL "TP_OPEN" USING TP-AREA WS-ENV TP-ENV
           CALL "TP_BORROW" USING TP-AREA WS-ENV WS-CONN WS-HDBC
           PERFORM SHOW
           MOVE "kept" TO TPN-BIZ-KEY
           PERFORM PUT-TASK
           CALL "SQLEndTran" USING BY VALUE 2 BY VALUE WS-HDBC
               BY VALUE 0
           INITIALIZE TP-NEW
           MOVE "taken back" TO TPN-BIZ-KEY
           PERFORM PUT-TASK
           CALL "SQLEndTran" USING BY VALUE 2 BY VALUE WS-HDBC
               BY VALUE 1
           CALL "TP_BEGIN" USING TP-AREA WS-CONN
           PERFORM SHOW
           CALL "TP_EXECUTE" USING TP-AREA WS-CONN TP-STMT
           PERFORM SHOW
           CALL "TP_DISCONNECT" USING TP-AREA WS-CONN
           CALL "TP_CLOSE" USING TP-AREA WS-ENV
           CALL "SQLDisconnect" USING BY VALUE WS-HDBC
           STOP RUN.

       CONNECT-TO-SHOP.
           ACCEPT WS-SHOP FROM ENVIRONMENT "SHOP_DSN"
           COMPUTE WS-LENGTH = FUNCTION LENGTH
               (FUNCTION TRIM (WS-SHOP TRAILING))
           CALL "SQLAllocHandle" USING BY VALUE 1 BY VALUE 0
               BY REFERENCE WS-HENV
           CALL "SQLSetEnvAttr" USING BY VALUE WS-HENV BY VALUE 200
               BY VALUE 3 BY VALUE 0
           CALL "SQLAllocHandle" USING BY VALUE 2 BY VALUE WS-HENV
               BY REFERENCE WS-HDBC
           CALL "SQLDriverConnect" USING BY VALUE WS-HDBC BY VALUE 0
               BY REFERENCE WS-SHOP BY VALUE WS-LENGTH BY VALUE 0
               BY VALUE 0 BY REFERENCE WS-SHORT BY VALUE 0
           CALL "SQLSetConnectAttr" USING BY VALUE WS-HDBC
               BY VALUE 102 BY VALUE 0 BY VALUE 0.

       PUT-TASK.
           MOVE "lent" TO TPN-HANDLER
           MOVE LENGTH OF WS-PARAMS TO TPN-PARAMS-SIZE
           CALL "TP_ENQUEUE" USING TP-AREA WS-CONN TP-NEW WS-PARAMS
           PERFORM SHOW.

       SHOW.
           DISPLAY FUNCTION TRIM (TPA-NAME) " " WITH NO ADVANCING.
