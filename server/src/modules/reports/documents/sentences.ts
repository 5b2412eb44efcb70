/** The sentences of observations in German, by the form of the English one. */
export const sentences: readonly (readonly [RegExp, string])[] = [
  [
    /^In the period from (.+) the turnover was at least (\d+) times the mean of the other periods\.$/,
    'Im Zeitraum ab $1 war der Umsatz mindestens das $2-Fache des Mittels der anderen Zeiträume.',
  ],
  [
    /^The deposit is worth at least (\d+) times the mean of the other operations\.$/,
    'Der Eingang ist mindestens das $1-Fache des Mittels der anderen Vorgänge wert.',
  ],
  [
    /^The transfer is worth at least (\d+) times the mean of the other operations\.$/,
    'Die Überweisung ist mindestens das $1-Fache des Mittels der anderen Vorgänge wert.',
  ],
  [/^There was no operation with (.+) before this interval\.$/, 'Vor diesem Zeitraum gab es keinen Vorgang mit $1.'],
  [/^(.+) has at least (\d+) per cent of the turnover\.$/, 'Auf $1 entfallen mindestens $2 Prozent des Umsatzes.'],
  [/^(\S+) per cent of it has no known counterparty\.$/, '$1 Prozent davon haben keine bekannte Gegenpartei.'],
  [
    /^(\d+) operations? (?:has|have) another counterparty now than when created; .+$/,
    'Vorgänge, deren Gegenpartei heute eine andere ist als damals: $1.',
  ],
  [
    /^(\d+) of (\d+) transfers that left for the chain failed\.$/,
    '$1 von $2 Überweisungen, die an die Chain gingen, sind fehlgeschlagen.',
  ],
  [/^Nothing happened on (.+) for (\d+) days until (.+)\.$/, 'Auf $1 geschah $2 Tage lang nichts, bis zum $3.'],
  [
    /^Half of the transfers that (\S+) decided and that were approved waited at least (\d+) hours\.$/,
    'Die Hälfte der genehmigten Überweisungen, über die $1 entschied, wartete mindestens $2 Stunden.',
  ],
  [
    /^From (.+) to (.+), (\d+) of (\d+) operations in (.+) had no rate and are missing from USD sums\.$/,
    'Von $1 bis $2 hatten $3 von $4 Vorgängen in $5 keinen Kurs und fehlen in den Summen in USD.',
  ],
]
