-- What a downloaded file is checked with, and what the file is: CSV of a report with several tables is a ZIP archive. Both
-- are unknown for files that were made before.
alter table report_exports add column sha256 text check (sha256 ~ '^[0-9a-f]{64}$');
alter table report_exports add column file_kind text check (file_kind in ('csv', 'zip', 'xlsx', 'pdf'));
