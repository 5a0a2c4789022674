/** The bundle of what is used seldom: it is read on first use, so that no window holds it for nothing. */
export { collectDiagnostics } from '../node/diagnostics.ts';
export { examine } from '../node/doctor/doctor.ts';
