import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import { type Ground, withHerd } from '../ground.ts';
import { governedFrom } from '../waits.ts';

/** All reports stop arriving at once; later all arrive again. */
export const producersCut = (ground: Ground): Promise<void> =>
  withHerd(
    ground,
    { name: 'cut', straight: 15, throughHttp: 15 },
    async (herd) => {
      const { received } = ground;
      const names = new Set<string | null>(herd.agents.map(({ agentId }) => agentId));
      const governed = governedFrom(ground);
      const rulings = () => received.of(Topic.stepRuling).filter(({ key }) => names.has(key));
      herd.connected(false);
      await until('the end of each agent has been requested, and withheld', async () => {
        const withheld = rulings().flatMap(({ key, payload }) =>
          'why' in payload && payload.why === 'brake' ? [key] : [],
        );
        return new Set(withheld).size === names.size;
      });
      await holds(() => expect(governed()).toEqual(['BRAKE_ENGAGED']));
      herd.connected(true);
      await until('the brake is lifted', async () => governed().includes('BRAKE_RELEASED'));
      await until('no agent is judged unhealthy any more', async () => {
        const last = new Map(
          received
            .of(Topic.agentHealth)
            .flatMap(({ type, key, payload }) => (type === 'HEALTH_STATE_CHANGED' ? [[key, payload.to]] : [])),
        );
        return [...names].every((name) => last.get(String(name)) === 'HEALTHY');
      });
      expect(governed()).toEqual(['BRAKE_ENGAGED', 'BRAKE_RELEASED']);
      const ended = received
        .of(Topic.agentOrder)
        .filter(({ type, key }) => type === 'TERMINATE_AGENT' && names.has(key));
      expect(ended).toEqual([]);
      const incidents = () =>
        received
          .of(Topic.alert)
          .filter(({ type, payload }) => type === 'ALERT_RAISED' && payload.route === 'fleet_brake');
      await holds(() => expect(incidents()).toHaveLength(1));
    },
    () => 'cut off',
  );
