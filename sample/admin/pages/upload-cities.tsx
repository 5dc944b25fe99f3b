/** A page that stores cities from a file. */
import { Card, CardContent, Typography } from '@mui/material';
import { Title } from 'react-admin';
import { Upload } from '../components/upload.js';

export function UploadCities() {
  return (
    <Card sx={{ mt: 2 }}>
      <Title title="Upload cities" />
      <CardContent>
        <Typography variant="h6" component="h1" gutterBottom>
          Upload cities
        </Typography>
        <Upload
          resource="cities"
          modes={{ create: 'New cities', update: 'Changes, by id', upsert: 'New cities or changes' }}
        />
      </CardContent>
    </Card>
  );
}
