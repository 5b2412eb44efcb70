import { Gauge as PrometheusGauge, type Registry } from 'prom-client'
import { type Gauge, gauges, type Sample } from './samples.ts'

/** Adds the gauges to a registry. They are read together when it is scraped, and gauges that could not be read are left out. */
export function registerGauges(registry: Registry, watch: () => Promise<Sample[]>): void {
  const labelsOf: Partial<Record<Gauge, string[]>> = {
    strongroom_transfers: ['phase'],
    strongroom_transfers_oldest_seconds: ['phase'],
    strongroom_held_subjects: ['subject'],
    strongroom_wallet_events: ['outcome'],
    strongroom_wallet_events_oldest_seconds: ['outcome'],
    strongroom_networks_unchecked: ['network'],
    strongroom_rate_age_seconds: ['network', 'token', 'source'],
    strongroom_wallet_service_up: ['vault'],
    strongroom_database_connections: ['state'],
  }
  for (const [name, help] of Object.entries(gauges) as [Gauge, string][]) {
    new PrometheusGauge({
      name,
      help,
      labelNames: labelsOf[name] ?? [],
      registers: [registry],
      async collect() {
        const samples = await watch()
        this.reset()
        for (const { gauge, labels, value } of samples) if (gauge === name) this.set(labels, value)
        // Otherwise a gauge without labels would have the value 0, although nothing was read.
        if (!samples.some(({ gauge }) => gauge === name)) this.remove({})
      },
    })
  }
}
