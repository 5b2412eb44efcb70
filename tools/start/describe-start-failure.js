import { dirname } from 'node:path'

/** @param {NodeJS.ErrnoException} error of a start in a checkout */
export function describeStartFailure({ code, message, path }) {
  if (code === 'ERR_MODULE_NOT_FOUND') return `${message}; run "npm ci" first`
  if (['EACCES', 'EPERM', 'EROFS'].includes(code) && path !== undefined) {
    return (
      `${dirname(path)} cannot be written (${code}). A start compiles what has changed, and keeps its data in .strongroom. ` +
      'Run "npm run build" as somebody who may write here, and set DATA_DIR to a folder of your own'
    )
  }
  return message
}
