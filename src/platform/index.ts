export { backupPlatform } from './backup.ts';
export { type CellSpec, defaultCells, defaultProjects, parseCells, parseProjects } from './cells.ts';
export { configFields, decodeConfig, defaultConfig, loadConfig, type PlatformConfig } from './config.ts';
export { controllersOf } from './controllers.ts';
export { featureGates, parseFeatureGates, UsageError } from './gates.ts';
export { type IpamService, type IpamServiceOptions, startIpamService } from './ipam-service.ts';
export { createLogger, type LogLevel, logLevels } from './log.ts';
export { type Platform, type PlatformOptions, StartError, StorageOpenError, startPlatform } from './platform.ts';
export { type ReservedGrants, reservedGrants } from './reserved-grants.ts';
