import { expect } from 'chai';
import { shutdownTimes } from '../../../../src/express/server/serve.js';

describe('shutdownTimes', () => {
  const { KUBERNETES_SERVICE_HOST } = process.env;

  afterEach(() => {
    delete process.env['KUBERNETES_SERVICE_HOST'];
    if (KUBERNETES_SERVICE_HOST !== undefined)
      process.env['KUBERNETES_SERVICE_HOST'] = KUBERNETES_SERVICE_HOST;
  });

  it('has no delay and twenty seconds for requests by default', () => {
    delete process.env['KUBERNETES_SERVICE_HOST'];
    expect(shutdownTimes({})).to.deep.equal({ drainDelay: 0, shutdownTimeout: 20_000 });
  });

  it('has a delay of five seconds by default in Kubernetes', () => {
    process.env['KUBERNETES_SERVICE_HOST'] = '10.0.0.1';
    expect(shutdownTimes({})).to.deep.equal({ drainDelay: 5_000, shutdownTimeout: 20_000 });
  });

  it('keeps what is given, zeros too', () => {
    process.env['KUBERNETES_SERVICE_HOST'] = '10.0.0.1';
    expect(shutdownTimes({ drainDelay: 0, shutdownTimeout: 0 })).to.deep.equal({
      drainDelay: 0,
      shutdownTimeout: 0,
    });
  });
});
