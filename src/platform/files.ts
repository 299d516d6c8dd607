/** What lies where in the folder of a platform. */
export const storeFile = 'berth.db';
export const secretsFolder = 'secrets';
