import { printTime } from '../documents/print.ts'
import type { Language } from '../documents/words.ts'
import { createZonedTime } from '../documents/zoned-time.ts'
import { fileNameOf } from '../files/formats.ts'
import { type ArchiveOrder, archiveType, type Plan } from './making.ts'

/** The first member of an archive. */
export const readmeName = 'readme.txt'

/** Returns the text for the reader of an archive: the vault, the period, the members, and the command that checks them. */
export function toReadme({ id, member, parameters, organisationName, signer, now }: ArchiveOrder, plan: Plan): string {
  const { from, to, timezone, language } = parameters
  const time = createZonedTime(timezone)
  const print = (instant: string | Date) => printTime(instant, time, language)
  const { title, facts, notEnded, members, check } = words[language]
  const name = fileNameOf(archiveType, id, 'zip')
  const lines = [
    ...(organisationName === null ? [] : [[facts.organisation, organisationName]]),
    [facts.vault, `${member.vault.name} (${member.vault.code})`],
    [facts.from, `${print(from)} (${timezone})`],
    [facts.to, `${print(to)} (${timezone})`],
    [facts.made, `${print(now)}, ${member.email ?? member.userId}`],
    [facts.key, signer.keyId],
  ].map(([label, value]) => `${`${label}:`.padEnd(16)}${value}`)
  const warning = new Date(to) > now ? ['', notEnded(print(now))] : []
  const list = members(plan).map(([path, about]) => `  ${path!.padEnd(24)}${about}`)
  return `${[title, '', ...lines, ...warning, '', facts.members, '', ...list, '', ...check(name)].join('\n')}\n`
}

/** The texts of one language. Names of members are the same in all languages. */
type Texts = {
  title: string
  facts: Record<'organisation' | 'vault' | 'from' | 'to' | 'made' | 'key' | 'members', string>
  notEnded(time: string): string
  /** Returns the members with their meaning. */
  members(plan: Plan): string[][]
  /** Returns the lines about the check. */
  check(name: string): string[]
}

const english: Texts = {
  title: 'Archive for the auditor',
  facts: {
    organisation: 'Organisation',
    vault: 'Vault',
    from: 'From, included',
    to: 'To, excluded',
    made: 'Made',
    key: 'Key of the node',
    members: 'Members',
  },
  notEnded: (time) => `The period had not ended when this archive was made, at ${time}. Later operations are missing.`,
  members: ({ accounts, isPrinted, transferIds }) => [
    ['statements/', 'Reports on the whole vault: movement of assets, operations, gaps in their data,'],
    ['', 'network fees, votes. Each is a PDF, and a folder with a CSV for each table.'],
    ['accounts/', `Statements of ${accounts.length} accounts with a posting in the period or a balance at its end.`],
    ['', isPrinted ? 'Each is a CSV and a PDF; index.csv lists them.' : 'Each is a CSV; index.csv lists them.'],
    ['evidence/', `Evidence of the ${transferIds.length} transfers that were ordered in the period.`],
    ['verification.json', 'The verification of books and audit trail, made with this archive.'],
    ['seals/', 'The signed seals of audit trail and ledger, from the one before the period to the newest.'],
    ['SHA256SUMS', 'The SHA-256 of each member above; "sha256sum -c SHA256SUMS" compares them.'],
    ['manifest.json', 'The SHA-256 of SHA256SUMS and the newest seals, signed with the key of the node.'],
  ],
  check: (name) => [
    'Check',
    '',
    `  strongroom archive verify ${name} --key KEY`,
    '',
    'needs neither the service nor a database. It checks the sums, the signature, the seals and the evidence,',
    'prints a sentence for each difference, and exits with 1 if there is one.',
    '',
    'A file cannot prove that its key is that of the service: KEY is the one that the operator tells you in another way.',
    '--head FILE compares the seals with the heads that a witness keeps for you.',
    'The SHA-256 of the whole archive is with its export, for a month.',
  ],
}

const german: Texts = {
  title: 'Archiv für die Prüfung',
  facts: {
    organisation: 'Organisation',
    vault: 'Tresor',
    from: 'Von, enthalten',
    to: 'Bis, ausgenommen',
    made: 'Erstellt',
    key: 'Schlüssel',
    members: 'Inhalt',
  },
  notEnded: (time) =>
    `Der Zeitraum war noch nicht zu Ende, als dieses Archiv erstellt wurde (${time}). Spätere Vorgänge fehlen.`,
  members: ({ accounts, isPrinted, transferIds }) => [
    ['statements/', 'Berichte über den ganzen Tresor: Bewegung der Vermögenswerte, Vorgänge, Lücken ihrer Daten,'],
    ['', 'Netzwerkgebühren, Stimmen. Jeder ist ein PDF und ein Ordner mit einer CSV je Tabelle.'],
    [
      'accounts/',
      `Auszüge von ${accounts.length} Konten mit einer Buchung im Zeitraum oder einem Bestand an seinem Ende.`,
    ],
    [
      '',
      isPrinted
        ? 'Jeder ist eine CSV und ein PDF; index.csv führt sie auf.'
        : 'Jeder ist eine CSV; index.csv führt sie auf.',
    ],
    ['evidence/', `Nachweise der ${transferIds.length} Überweisungen, die im Zeitraum beauftragt wurden.`],
    ['verification.json', 'Die Prüfung von Hauptbuch und Prüfpfad, die mit diesem Archiv gemacht wurde.'],
    ['seals/', 'Die signierten Siegel von Prüfpfad und Hauptbuch, von dem vor dem Zeitraum bis zum neuesten.'],
    ['SHA256SUMS', 'Die SHA-256 von allem darüber; „sha256sum -c SHA256SUMS“ vergleicht sie.'],
    ['manifest.json', 'Die SHA-256 von SHA256SUMS und die neuesten Siegel, signiert mit dem Schlüssel des Dienstes.'],
  ],
  check: (name) => [
    'Prüfen',
    '',
    `  strongroom archive verify ${name} --key KEY`,
    '',
    'braucht weder den Dienst noch eine Datenbank. Der Befehl prüft Summen, Signatur, Siegel und Nachweise, gibt für',
    'jede Abweichung einen Satz aus und endet mit 1, wenn es eine gibt.',
    '',
    'Eine Datei kann nicht beweisen, dass ihr Schlüssel der des Dienstes ist: KEY ist der, den der Betreiber auf anderem',
    'Weg nennt. --head DATEI vergleicht die Siegel mit den Köpfen, die ein Zeuge für Sie aufbewahrt.',
    'Die SHA-256 des ganzen Archivs steht einen Monat lang bei seinem Export.',
  ],
}

const words: Record<Language, Texts> = { en: english, de: german }
