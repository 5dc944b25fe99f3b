/** The back office: its resources and their pages, a dashboard, an upload, and the API they are on. */
import { Admin, CustomRoutes, Resource, reactRouterProvider } from 'react-admin';
import { createRoot } from 'react-dom/client';
import { dataProvider, i18nProvider } from './atlas.js';
import { CityCreate, CityEdit, CityList } from './pages/cities.js';
import { CountryCreate, CountryEdit, CountryList } from './pages/countries.js';
import { Dashboard } from './pages/dashboard.js';
import { ReviewCreate, ReviewEdit, ReviewList } from './pages/reviews.js';
import { ThemeCreate, ThemeEdit, ThemeList, TripCreate, TripEdit, TripList } from './pages/trips.js';
import { UploadCities } from './pages/upload-cities.js';

const { Route } = reactRouterProvider;

function BackOffice() {
  return (
    // Without the switch react-admin reports to its makers where it runs.
    <Admin
      dataProvider={dataProvider}
      i18nProvider={i18nProvider}
      dashboard={Dashboard}
      title="Atlas"
      disableTelemetry
    >
      <Resource
        name="countries"
        list={CountryList}
        edit={CountryEdit}
        create={CountryCreate}
        recordRepresentation="name"
      />
      <Resource
        name="cities"
        list={CityList}
        edit={CityEdit}
        create={CityCreate}
        recordRepresentation="name"
      />
      <Resource
        name="reviews"
        list={ReviewList}
        edit={ReviewEdit}
        create={ReviewCreate}
        recordRepresentation="author"
      />
      <Resource
        name="trips"
        list={TripList}
        edit={TripEdit}
        create={TripCreate}
        recordRepresentation="title"
      />
      <Resource
        name="themes"
        list={ThemeList}
        edit={ThemeEdit}
        create={ThemeCreate}
        recordRepresentation="name"
      />
      <CustomRoutes>
        <Route path="/cities/upload" element={<UploadCities />} />
      </CustomRoutes>
    </Admin>
  );
}

const root = document.getElementById('root');
if (root) createRoot(root).render(<BackOffice />);
