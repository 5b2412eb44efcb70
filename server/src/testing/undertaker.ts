import { spawn } from 'node:child_process'

/**
 * Looks after a throw-away directory: should this process die without tidying up, by Ctrl-C or kill -9, the PostgreSQL
 * servers below the directory are ended and the directory is removed. `dismiss` ends the watch and touches nothing.
 *
 * It is a small shell whose standard input closes when we are gone, whatever ended us. The data is of no worth, so the
 * servers are told to quit at once.
 */
export function watchDirectory(directory: string): { dismiss(): void } {
  const undertaker = spawn('/bin/sh', ['-c', SCRIPT, 'undertaker', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  undertaker.unref()
  return {
    dismiss: () => {
      undertaker.kill('SIGKILL')
      undertaker.stdin?.destroy()
    },
  }
}

// A process id is believed only while it belongs to a postgres: the record may be an old one.
const SCRIPT = `
cat >/dev/null
find "$1" -name postmaster.pid -type f | while read -r record; do
  pid=$(head -n 1 "$record")
  command=$(tr '\\0' ' ' <"/proc/$pid/cmdline" || ps -o args= -p "$pid")
  case $command in *postgres*) kill -QUIT "$pid" ;; esac
done
sleep 2
rm -rf "$1"
`
