/** A page of the tests: records whose id has several columns. */
import createClient from 'openapi-fetch';
import { Admin, DataTable, List, NumberInput, Resource, SaveButton, TextInput, Toolbar } from 'react-admin';
import { createRoot } from 'react-dom/client';
import { DeleteButton } from './components/delete-and-restore.js';
import { GuardedEdit } from './components/guarded-edit.js';
import { crudDataProvider } from './data-provider/data-provider.js';

interface OrderLine {
  readonly id: string;
  readonly region: string;
  readonly lineNo: number;
  readonly quantity: number;
}

/** The parts of its document that the provider needs. */
interface Paths {
  '/order-lines': {
    get: {
      parameters: { query?: { after?: string; before?: string; size?: number; sort?: string } };
      responses: { 200: { content: { 'application/json': { items: OrderLine[] } } } };
    };
  };
  '/order-lines/{id}': {
    patch: { parameters: { path: { id: string }; header?: { 'If-Match'?: string } } };
  };
}

const client = createClient<Paths>({ baseUrl: window.location.origin });
const dataProvider = crudDataProvider(client, {
  'order-lines': { path: '/order-lines', pagination: 'cursor', tags: true },
});

function LineList() {
  return (
    <List sort={{ field: 'lineNo', order: 'ASC' }} perPage={10}>
      <DataTable bulkActionButtons={false}>
        <DataTable.Col source="region" />
        <DataTable.NumberCol source="lineNo" />
        <DataTable.NumberCol source="quantity" />
      </DataTable>
    </List>
  );
}

function LineEdit() {
  return (
    <GuardedEdit
      toolbar={
        <Toolbar>
          <SaveButton />
          <DeleteButton />
        </Toolbar>
      }
    >
      <TextInput source="region" disabled />
      <NumberInput source="quantity" />
    </GuardedEdit>
  );
}

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <Admin dataProvider={dataProvider} disableTelemetry>
      <Resource name="order-lines" list={LineList} edit={LineEdit} />
    </Admin>,
  );
