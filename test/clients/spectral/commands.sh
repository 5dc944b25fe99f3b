npm install --save-dev @stoplight/spectral-cli
npx spectral lint api.json --fail-severity error
