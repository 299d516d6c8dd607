export { type SeedRanges, seedableProjects, seedClasses, seedPools, seedRanges } from './seed.ts';
export { createIpam, type Ipam, type IpamOptions, ipamStorage, proceduresUrl } from './service.ts';
