import { noSuchPath } from './errors.ts';
import type { ApiRequest, ApiResponse } from './http/message.ts';
import type { Plane } from './plane.ts';

export function openApiDocument(_request: ApiRequest, _plane: Plane, _path: string): ApiResponse {
  throw noSuchPath();
}
