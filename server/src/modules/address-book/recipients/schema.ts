import { Type } from 'typebox'
import { Closed, described, Nullable } from '../../../http/schema.ts'

export const KnownAlike = Closed(
  {
    address: Type.String({ examples: ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8'] }),
    name: described(
      Nullable(Type.String({ examples: ['Harbour Trading'] })),
      'Whose address it is; null for an address that was only paid, or has no label.',
    ),
  },
  { $id: 'KnownAlike', description: 'An address that is known, and that another one begins and ends like.' },
)
