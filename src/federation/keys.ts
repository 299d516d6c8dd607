/** Marks the agent leaves on what it carries. */

/** On a copy: UID of the object it is a copy of. A copy of another UID is never taken over. */
export const sourceUid = 'federation.datumapis.com/source-uid';

/** On a copy the agent publishes to the hub: location of the cell it came from. */
export const sourceCell = 'federation.datumapis.com/source-cell';

/** Held on a hub object until the cell's copy of it is gone, for kinds whose deletion drains something. */
export const carriedFinalizer = 'federation.datumapis.com/carried';

/** Set to `true` by an operator on the hub's record of a location whose cell is gone for good. */
export const cellLost = 'federation.datumapis.com/cell-lost';
