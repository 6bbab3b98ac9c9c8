/** What somebody has written and is about to send. */
export interface Written {
  readonly text: string;
  readonly mentionUserIds: readonly string[];
  readonly mentionAll: boolean;
}
