import { checks } from './checks.ts'
import { type Gauge, gauges } from './samples.ts'

type Panel = {
  title: string
  description: string
  unit: string
  series: Series[]
  limit?: { above: number } | { below: number }
}
type Series = { expr: string; legend: string }

/** The number of panels in a row, and the size of a panel in units of the grid of Grafana, which is 24 units wide. */
const perRow = 3
const size = { w: 24 / perRow, h: 7 }

/**
 * Returns a dashboard that Grafana can import, with panels for requests, the process, and each gauge. A line in a panel shows the limit
 * of its alert rule. The person who imports the dashboard chooses the data source.
 */
export function dashboard(): string {
  const rows = {
    Requests: requests,
    'What an operator watches': (Object.keys(gauges) as Gauge[]).map(panelOf),
    Process: processPanels,
  }
  let y = 0
  let id = 0
  const panels = Object.entries(rows).flatMap(([title, list]) => {
    const heading = { id: ++id, type: 'row', title, collapsed: false, panels: [], gridPos: { x: 0, y, w: 24, h: 1 } }
    y += 1
    const placed = list.map((panel, index) => ({
      id: ++id,
      gridPos: { x: (index % perRow) * size.w, y: y + Math.floor(index / perRow) * size.h, ...size },
      ...toPanel(panel),
    }))
    y += Math.ceil(list.length / perRow) * size.h
    return [heading, ...placed]
  })
  return `${JSON.stringify({ ...frame, panels }, null, 2)}\n`
}

const source = { type: 'prometheus', uid: '$' + '{DS_PROMETHEUS}' }

const frame = {
  __inputs: [
    {
      name: 'DS_PROMETHEUS',
      label: 'Prometheus',
      type: 'datasource',
      pluginId: 'prometheus',
      pluginName: 'Prometheus',
    },
  ],
  __requires: [{ type: 'panel', id: 'timeseries', name: 'Time series', version: '' }],
  title: 'Strongroom',
  uid: 'strongroom',
  tags: ['strongroom'],
  schemaVersion: 39,
  editable: true,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  templating: {
    list: [
      {
        name: 'instance',
        type: 'query',
        label: 'Node',
        datasource: source,
        query: 'label_values(strongroom_build_info, instance)',
        refresh: 2,
        includeAll: true,
        multi: true,
        current: { text: 'All', value: '$__all' },
      },
    ],
  },
}

const requests: Panel[] = [
  {
    title: 'Requests per second, by status',
    description: 'Answers of the nodes.',
    unit: 'reqps',
    series: [
      { expr: `sum by (status) (rate(http_request_duration_seconds_count${onNodes()}[5m]))`, legend: '{{status}}' },
    ],
  },
  {
    title: 'Duration of writes',
    description: 'Requests that change something, at the median, the 95th and the 99th percentile.',
    unit: 's',
    series: quantiles('method!="GET"'),
  },
  {
    title: 'Duration of reads',
    description: 'Requests that only read, at the median, the 95th and the 99th percentile.',
    unit: 's',
    series: quantiles('method="GET"'),
  },
]

const processPanels: Panel[] = [
  {
    title: 'CPU',
    description: 'Cores that each node uses.',
    unit: 'short',
    series: [{ expr: `rate(process_cpu_seconds_total${onNodes()}[5m])`, legend: '{{instance}}' }],
  },
  {
    title: 'Memory',
    description: 'Resident memory of each node.',
    unit: 'bytes',
    series: [{ expr: `process_resident_memory_bytes${onNodes()}`, legend: '{{instance}}' }],
  },
  {
    title: 'Event loop',
    description: 'Delay of the event loop at the 99th percentile.',
    unit: 's',
    series: [{ expr: `nodejs_eventloop_lag_p99_seconds${onNodes()}`, legend: '{{instance}}' }],
  },
]

/**
 * Returns the panel of a gauge. Every node reads the same figures from the database, so that the panel shows the largest value of the
 * nodes; `without` keeps the labels other than those of the node.
 */
function panelOf(gauge: Gauge): Panel {
  const rules = checks.filter(({ red }) => red.gauge === gauge)
  const [rule] = rules
  const limit =
    rule !== undefined && rules.length === 1 && rule.red.labels === undefined ? limitOf(rule.red) : undefined
  const pick = /_up$/.test(gauge) ? 'min' : 'max'
  return {
    title: titleOf(gauge),
    description: gauges[gauge],
    unit: /_seconds$/.test(gauge) ? 's' : 'short',
    series: [{ expr: `${pick} without (instance, job, pod) (${gauge}${onNodes()})`, legend: '' }],
    ...(limit === undefined ? {} : { limit }),
  }
}

const limitOf = (red: { above: number } | { below: number }) =>
  'above' in red ? { above: red.above } : { below: red.below }

/** Returns the name of a gauge as a title: "Hand overs oldest seconds" for `strongroom_hand_overs_oldest_seconds`. */
function titleOf(gauge: Gauge): string {
  const words = gauge.replace('strongroom_', '').replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

function onNodes(condition = ''): string {
  return `{instance=~"$instance"${condition === '' ? '' : `,${condition}`}}`
}

function quantiles(condition: string): Series[] {
  const rates = `sum by (le) (rate(http_request_duration_seconds_bucket${onNodes(condition)}[5m]))`
  return ['0.5', '0.95', '0.99'].map((share) => ({ expr: `histogram_quantile(${share}, ${rates})`, legend: share }))
}

function toPanel({ title, description, unit, series, limit }: Panel) {
  return {
    type: 'timeseries',
    title,
    description,
    datasource: source,
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        custom: {
          lineWidth: 1,
          fillOpacity: 10,
          showPoints: 'never',
          ...(limit && { thresholdsStyle: { mode: 'line' } }),
        },
        thresholds: {
          mode: 'absolute',
          steps: limit === undefined ? [{ color: 'green', value: null }] : stepsOf(limit),
        },
      },
      overrides: [],
    },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: series.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: source,
      expr,
      ...(legend === '' ? {} : { legendFormat: legend }),
    })),
  }
}

/** Returns the colours of a panel. Each colour of Grafana begins at a value; red is above, or below, the limit. */
function stepsOf(limit: { above: number } | { below: number }) {
  return 'above' in limit
    ? [
        { color: 'green', value: null },
        { color: 'red', value: limit.above },
      ]
    : [
        { color: 'red', value: null },
        { color: 'green', value: limit.below },
      ]
}
