import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

/** Returns the logger, which writes JSON lines and removes fields that could hold a secret. Tests give another `destination`. */
export function createLogger(level: string, destination: DestinationStream = pino.destination(1)): Logger {
  const options: LoggerOptions = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (name) => ({ level: name }) },
    redact: {
      paths: [
        'req.headers.authorization',
        'req.headers.cookie',
        '*.token',
        '*.secret',
        '*.password',
        '*.authorization',
        '*.cookie',
      ],
      censor: '[redacted]',
    },
  }
  return pino(options, destination)
}
