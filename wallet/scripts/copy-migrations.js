// Puts the SQL files and the parts of the page for signatures beside the compiled files, which look for them there.
import { cpSync } from 'node:fs'

for (const folder of ['migrations/', 'signing/assets/']) {
  cpSync(new URL(`../src/${folder}`, import.meta.url), new URL(`../dist/${folder}`, import.meta.url), {
    recursive: true,
    // A script that looked new would make the bundles of `npm start` old.
    preserveTimestamps: true,
  })
}
