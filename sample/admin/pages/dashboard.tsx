/** The first page: in which countries the cities are, as a chart of the groups that the API counts. */
import {
  Alert,
  Box,
  Button,
  Card,
  CardContent,
  LinearProgress,
  Link,
  MenuItem,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  TextField,
  Typography,
} from '@mui/material';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { HttpError, LinkBase, Title, useDataProvider } from 'react-admin';
import type { Groups } from '../atlas.js';
import type { CrudDataProvider, Group } from '../data-provider/data-provider.js';
import { REGIONS } from './countries.js';

/** Bars of the chart. */
const MOST = 10;

const MEASURES = {
  count: { label: 'Cities', sort: '-count', of: ({ count }: Group) => String(count) },
  sum: { label: 'People', sort: '-sum.population', of: ({ sum }: Group) => sum?.['population'] },
  avg: { label: 'People of one', sort: '-avg.population', of: ({ avg }: Group) => avg?.['population'] },
} as const;

type Measure = keyof typeof MEASURES;

interface Asked {
  readonly filter: object;
  readonly measure: Measure;
}

export function Dashboard() {
  const [region, setRegion] = useState('');
  const [people, setPeople] = useState('');
  const [measure, setMeasure] = useState<Measure>('sum');
  // Each letter would be a request.
  const peopleTyped = useSettled(people);
  const filter = { 'country.region': region, 'population@ge': peopleTyped };
  const { data, error, isFetching, refetch } = useChart({ filter, measure });
  return (
    <Card sx={{ mt: 2 }}>
      <Title title="Dashboard" />
      <CardContent aria-busy={isFetching}>
        <Typography variant="h6" component="h1" gutterBottom>
          Cities by country
        </Typography>
        <Box component="form" role="search" sx={{ display: 'flex', flexWrap: 'wrap', gap: 2 }}>
          <Choice label="Region" value={region} onChange={setRegion}>
            <MenuItem value="">All</MenuItem>
            {REGIONS.map((each) => (
              <MenuItem key={each} value={each}>
                {each}
              </MenuItem>
            ))}
          </Choice>
          <TextField
            fullWidth={false}
            label="People at least"
            type="number"
            value={people}
            onChange={(event) => setPeople(event.target.value)}
          />
          <Choice label="Show" value={measure} onChange={(value) => setMeasure(value as Measure)}>
            {Object.entries(MEASURES).map(([name, { label }]) => (
              <MenuItem key={name} value={name}>
                {label}
              </MenuItem>
            ))}
          </Choice>
        </Box>
        <Box sx={{ height: 4, my: 2 }}>{isFetching && <LinearProgress aria-label="Loading" />}</Box>
        {error && (
          <Alert severity="error" action={<Button onClick={() => refetch()}>Try again</Button>}>
            {error.message}
          </Alert>
        )}
        {!error && data && <Chart {...data} filter={filter} />}
      </CardContent>
    </Card>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly children: React.ReactNode;
}

function Choice({ label, value, onChange, children }: ChoiceProps) {
  return (
    <TextField
      select
      fullWidth={false}
      label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      sx={{ minWidth: 160 }}
    >
      {children}
    </TextField>
  );
}

interface ChartData {
  readonly measure: Measure;
  /** All that the filter finds. */
  readonly whole: Group;
  readonly bars: readonly {
    readonly code: string;
    readonly name: string;
    readonly value: string;
    readonly cities: number;
  }[];
  readonly hasMore: boolean;
}

/** One request after the other: the API computes few aggregates at once. */
function useChart({ filter, measure }: Asked) {
  const dataProvider = useDataProvider<CrudDataProvider>();
  return useQuery({
    queryKey: ['cities', 'aggregate', filter, measure],
    placeholderData: keepPreviousData,
    // 503: others compute theirs.
    retry: (count, error) => count < 3 && error instanceof HttpError && error.status === 503,
    async queryFn({ signal }): Promise<ChartData> {
      const measures: Groups<'/cities'> = { sum: ['population'], avg: ['population'] };
      const sorted: Groups<'/cities'> = {
        ...measures,
        group: ['countryCode'],
        sort: [MEASURES[measure].sort],
        size: MOST,
      };
      const all = await dataProvider.aggregate('cities', { filter, query: measures, signal });
      const groups = await dataProvider.aggregate('cities', { filter, query: sorted, signal });
      const codes = groups.items.map(({ group }) => String(group['countryCode']));
      const { data: countries } = await dataProvider.getMany('countries', { ids: codes, signal });
      const names = new Map(countries.map(({ id, name }) => [id, String(name)]));
      return {
        measure,
        whole: all.items[0] ?? { group: {}, count: 0 },
        bars: groups.items.map((group, index) => ({
          code: codes[index] ?? '',
          name: names.get(codes[index] ?? '') ?? codes[index] ?? '',
          value: String(MEASURES[measure].of(group) ?? 0),
          cities: group.count,
        })),
        hasMore: groups.has_next,
      };
    },
  });
}

/** A table whose rows have bars, so that everybody reads the same numbers. */
function Chart({ measure, whole, bars, hasMore, filter }: ChartData & { readonly filter: object }) {
  const summary =
    whole.count === 0
      ? 'No city is like this.'
      : `Cities: ${formatted(String(whole.count))}. People: ${formatted(String(whole.sum?.['population'] ?? 0))}.` +
        (hasMore ? ` The first ${bars.length} countries:` : '');
  // Lengths need no more than the digits of a number.
  const longest = Math.max(...bars.map(({ value }) => Number(value)), 1);
  return (
    <>
      <Typography role="status" gutterBottom>
        {summary}
      </Typography>
      {bars.length > 0 && (
        <Table size="small" sx={{ tableLayout: 'fixed' }}>
          <TableHead>
            <TableRow>
              <TableCell sx={{ width: { xs: '38%', sm: 200 } }}>Country</TableCell>
              <TableCell aria-hidden />
              <TableCell align="right" sx={{ width: { xs: '36%', sm: 160 } }}>
                {MEASURES[measure].label}
              </TableCell>
            </TableRow>
          </TableHead>
          <TableBody>
            {bars.map(({ code, name, value }) => (
              <TableRow key={code}>
                <TableCell component="th" scope="row" sx={{ overflowWrap: 'anywhere' }}>
                  <Link component={LinkBase} to={citiesOf(code, filter)}>
                    {name}
                  </Link>
                </TableCell>
                <TableCell aria-hidden sx={{ p: 0 }}>
                  <Box
                    component="svg"
                    width="100%"
                    height="16"
                    sx={{ display: 'block', fill: ({ palette }) => palette.primary.main }}
                  >
                    <rect width={`${(100 * Number(value)) / longest}%`} height="16" rx="2" />
                  </Box>
                </TableCell>
                <TableCell align="right">{formatted(value)}</TableCell>
              </TableRow>
            ))}
          </TableBody>
        </Table>
      )}
    </>
  );
}

function citiesOf(countryCode: string, filter: object): string {
  const query = new URLSearchParams({ filter: JSON.stringify({ ...filter, countryCode }) });
  return `/cities?${query}`;
}

const FORMAT = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });

/** Decimals are texts, because a JavaScript number would round them. */
function formatted(decimal: string): string {
  return FORMAT.format(decimal as Intl.StringNumericLiteral);
}

/** The value, once it has not changed for a moment. */
function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), 400);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
