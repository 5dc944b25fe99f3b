/** Inputs that choose a record of another resource by a part of its name. */
import { AutocompleteInput, ReferenceInput } from 'react-admin';

interface ReferenceProps {
  readonly source: string;
  readonly alwaysOn?: boolean;
}

const toFilter = (text: string) => ({ 'name@ilike': text });

/** The largest first. */
export function CityInput({ source }: ReferenceProps) {
  return (
    <ReferenceInput source={source} reference="cities" sort={{ field: 'population', order: 'DESC' }}>
      <AutocompleteInput label="City" optionText="name" filterToQuery={toFilter} />
    </ReferenceInput>
  );
}

export function CountryInput({ source }: ReferenceProps) {
  return (
    <ReferenceInput source={source} reference="countries" sort={{ field: 'name', order: 'ASC' }}>
      <AutocompleteInput label="Country" optionText="name" filterToQuery={toFilter} />
    </ReferenceInput>
  );
}
