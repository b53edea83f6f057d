-- SQLite has no users: whoever may write the file and its folder may do everything. Give the file and the folder to one
-- group and keep others out (chmod 2770 the folder, chmod 660 the file and its -wal and -shm).
SELECT 'no grants on SQLite: use file permissions' AS note;
