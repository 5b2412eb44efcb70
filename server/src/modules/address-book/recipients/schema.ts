import { type Static, Type } from 'typebox'
import { Closed, described, Enum, Id, Nullable, Ref } from '../../../http/schema.ts'
import { addressLengthMax, rowsPerPayoutMax } from '../../../lib/limits.ts'

export const KnownAlike = Closed(
  {
    address: Type.String({ examples: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'] }),
    name: described(
      Nullable(Type.String({ examples: ['Harbour Trading'] })),
      'Name of the counterparty or label of the address; null when the address has neither, such as an address that was only paid.',
    ),
  },
  { $id: 'KnownAlike', description: 'A known address that begins and ends like another address.' },
)

const evmAddress = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

export const RecipientQuestion = Closed(
  {
    recipients: Type.Array(
      Closed({
        network: Type.String({
          maxLength: 64,
          description: 'Slug of the network of the address.',
          examples: ['ethereum'],
        }),
        address: Type.String({ minLength: 1, maxLength: addressLengthMax, examples: [evmAddress] }),
      }),
      { minItems: 1, maxItems: rowsPerPayoutMax, description: 'The addresses to check.' },
    ),
  },
  {
    $id: 'RecipientQuestion',
    description: 'Addresses to check before they are paid.',
    examples: [{ recipients: [{ network: 'ethereum', address: evmAddress }] }],
  },
)

const recipientFaults = ['not_an_address', 'wrong_checksum', 'unknown_network'] as const

export const CheckedRecipient = Closed(
  {
    address: described(
      Nullable(Type.String({ examples: [evmAddress] })),
      'The address in the spelling of its network; null for a text that is not an address.',
    ),
    fault: described(
      Nullable(Enum(recipientFaults)),
      'Why the address cannot be paid; null if it can be paid. `wrong_checksum`: a character of the address is mistyped.',
    ),
    known: described(
      Nullable(
        Closed({
          name: described(
            Nullable(Type.String({ examples: ['Harbour Trading'] })),
            'The counterparty, or the label of an address of the vault; null without a label.',
          ),
          label: described(
            Nullable(Type.String({ examples: ['Invoices'] })),
            'Label of the address of a counterparty.',
          ),
          counterpartyId: described(Nullable(Id), 'Null for an address of the vault.'),
          network: Type.String({
            description: 'Network on which the address is known; the requested network, if it is known there.',
            examples: ['ethereum'],
          }),
        }),
      ),
      'Known holder of the address, as far as the caller may see it; null if it is not known.',
    ),
    isFirstPayment: Type.Boolean({
      description: 'True if the caller knows of no payment to the address.',
      examples: [true],
    }),
    lookAlikes: described(
      Type.Array(Ref(KnownAlike)),
      'Up to three addresses that the caller knows or has paid and that begin and end like this address; empty for a known one.',
    ),
  },
  { $id: 'CheckedRecipient', description: 'Facts about an address that the caller may know before they pay it.' },
)

export const recipientComponents = [KnownAlike, RecipientQuestion, CheckedRecipient]
export type CheckedRecipient = Static<typeof CheckedRecipient>
