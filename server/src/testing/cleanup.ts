import { spawn } from 'node:child_process'

/**
 * Cleans up a temporary directory if this process dies before it does so, by Ctrl-C or kill -9: stops the PostgreSQL servers
 * below the directory and removes it. `dismiss` ends the watch and touches nothing.
 *
 * A small shell waits for the end of its standard input, which the operating system closes when this process ends for any
 * reason. The data is no longer needed, so the servers quit without a checkpoint.
 */
export function watchDirectory(directory: string): { dismiss(): void } {
  const cleanup = spawn('/bin/sh', ['-c', SCRIPT, 'cleanup', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  cleanup.unref()
  return {
    dismiss: () => {
      cleanup.kill('SIGKILL')
      cleanup.stdin?.destroy()
    },
  }
}

// The process id is used only if it belongs to a postgres, because the file may be left over from an earlier server.
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
