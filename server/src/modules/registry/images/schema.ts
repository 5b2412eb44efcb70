import { Type } from 'typebox'

export const imageParams = {
  key: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 (hex) of what the image is of and of its bytes, as its address ends with it.',
    examples: ['b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c'],
  }),
}
