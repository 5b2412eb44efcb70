#!/bin/sh
# Takes a base backup at once and then each day, and keeps the newest KEEP with the WAL that they need.
# PGHOST, PGUSER and PASSWORD_FILE say of which database; BACKUPS is where they go; WAL is where archive_command puts WAL, if it does.
# `backup.sh once` takes one and ends.
set -eu
umask 077
: "${BACKUPS:?}" "${KEEP:=7}" "${EVERY_SECONDS:=86400}"
if [ -n "${PASSWORD_FILE:-}" ]; then
  PGPASSWORD=$(cat "$PASSWORD_FILE")
  export PGPASSWORD
fi

# Each step says `|| return`: the shell does not end at a failure inside a condition.
take() {
  rm -rf "$BACKUPS"/*.part
  name=$(date -u +%Y%m%dT%H%M%SZ)
  # With the WAL of its own time it can be restored alone; what is in WAL leads on from there.
  pg_basebackup --pgdata="$BACKUPS/$name.part" --format=tar --gzip --wal-method=stream --checkpoint=fast --no-password ||
    return
  opens "$BACKUPS/$name.part" || return
  mv "$BACKUPS/$name.part" "$BACKUPS/$name" || return
  echo "backup.sh: $name, $(du -sh "$BACKUPS/$name" | cut -f1)"
}

# An archive that does not open is no backup.
opens() { gzip --test "$1"/*.gz && tar -tzf "$1/base.tar.gz" PG_VERSION > /dev/null; }

forget() {
  ls -d "$BACKUPS"/*Z 2> /dev/null | sort -r | tail -n "+$((KEEP + 1))" | while read -r old; do rm -rf "$old"; done
  [ -n "${WAL:-}" ] || return 0
  oldest=$(ls -d "$BACKUPS"/*Z | sort | head -n 1)
  first=$(tar -xzOf "$oldest/base.tar.gz" backup_label | sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]\{24\}\))$/\1/p')
  [ -n "$first" ] || { echo "backup.sh: $oldest does not say which WAL it begins with" >&2; return 1; }
  # Names of WAL sort by age within a timeline.
  ls "$WAL" | while read -r file; do
    case $file in
      *.history | *.part) ;;
      *) [ "$(printf '%.24s\n' "$file" "$first" | sort | head -n 1)" = "$first" ] || rm -f "$WAL/$file" ;;
    esac
  done
}

if [ "${1:-}" = once ]; then
  take
  forget
  exit
fi
while :; do
  # A failure is said, and tried again in an hour.
  if take && forget; then sleep "$EVERY_SECONDS"; else sleep 3600; fi
done
