/** What was given cannot be used: correct it and start again. */
export class WrongSettings extends Error {
  override readonly name = 'WrongSettings';
}

/** Another supervisor runs this agent: choose another name, or end that one first. */
export class AlreadySupervised extends Error {
  override readonly name = 'AlreadySupervised';
}

/** The gateway cannot be reached or is busy: the same again later. */
export class GatewayAway extends Error {
  override readonly name = 'GatewayAway';
}

/** The token does not stand for what was sent: mend the token or the runtime's name; what it does stand for is taken meanwhile. */
export class GatewayForbids extends GatewayAway {}

/** The gateway has refused what was sent: sending it again does not help. */
export class GatewayRefused extends Error {
  override readonly name = 'GatewayRefused';
}
