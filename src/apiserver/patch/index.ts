export { type ApplyInput, type ApplyResult, serverSideApply } from './apply.ts';
export { encodeFieldSet, type FieldSet, parseFieldSet, pathsOf } from './field-set.ts';
export { applyJsonPatch, maximumJsonPatchOperations } from './json-patch.ts';
export { applyMergePatch } from './merge-patch.ts';
export { strategicMergeSupported } from './strategic-kinds.ts';
export { applyStrategicMergePatch } from './strategic-merge.ts';
export { type TrackUpdateInput, trackUpdate } from './track.ts';
