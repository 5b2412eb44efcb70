import Type from 'typebox'

/** Request and answer of `POST /stops`. */

const strict = { additionalProperties: false }

export const Stops = Type.Object(
  {
    votes: Type.Unknown({
      description:
        'Signed votes `reject` or `cancel` on transfers and payouts, as docs/signed-orders.md describes them, each by a person of ' +
        'a group of the authority.',
    }),
  },
  { ...strict, title: 'Stops' },
)
export const Stopped = Type.Object(
  {
    stopped: Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), {
      description: 'Hashes of the orders and payouts that are never signed from now on.',
    }),
  },
  { ...strict, title: 'Stopped' },
)
