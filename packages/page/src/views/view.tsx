import type { FleetAnswer } from '../live/routes.ts';
import type { Filter } from '../model/fleet.ts';
import { type Place, timeIn } from '../model/places.ts';
import { AgentView } from './agent.tsx';
import { Alerts } from './alerts.tsx';
import { Breakers } from './breakers.tsx';
import { Case, Cases } from './cases.tsx';
import { FleetView } from './fleet.tsx';
import { Inbox } from './inbox.tsx';
import { Letters } from './letters.tsx';
import { Policies, Policy } from './policies.tsx';
import { ReplayedView, ReplayView } from './replay.tsx';
import { Task, Tasks } from './tasks.tsx';

type ViewProps = {
  readonly place: Place;
  readonly fleet: FleetAnswer | null;
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
};

/** The view of a place. */
export const View = ({ place: { view, id, query }, fleet, filter, onFilter }: ViewProps) => {
  switch (view) {
    case 'inbox':
      return <Inbox />;
    case 'fleet':
      return id === null ? (
        <FleetView answer={fleet} filter={filter} onFilter={onFilter} />
      ) : (
        <AgentView id={id} at={timeIn(query, 'at')} />
      );
    case 'cases':
      return id === null ? <Cases /> : <Case id={id} />;
    case 'tasks':
      return id === null ? <Tasks /> : <Task id={id} />;
    case 'breakers':
      return <Breakers />;
    case 'alerts':
      return <Alerts />;
    case 'dead-letters':
      return <Letters />;
    case 'policies':
      return id === null ? <Policies /> : <Policy name={id} />;
    case 'replay':
      return id === null ? <ReplayView query={query} /> : <ReplayedView id={id} />;
  }
};
