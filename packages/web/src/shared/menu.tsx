/** Radix's menu in the page's dress. Not modal: that would write a style element, which the policy of the page forbids. */
import type { LucideIcon } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactElement, ReactNode } from 'react';

interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactElement;
  readonly label: string;
  readonly children: ReactNode;
  readonly onOpenChange?: (open: boolean) => void;
  readonly align?: 'start' | 'end';
}

export function Menu({ trigger, label, children, onOpenChange, align = 'end' }: MenuProps): ReactElement {
  return (
    <DropdownMenu.Root modal={false} {...(onOpenChange && { onOpenChange })}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          aria-label={label}
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="z-20 min-w-48 rounded-xl border border-line bg-pane p-1 shadow-lg"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface MenuItemProps {
  readonly icon: LucideIcon;
  readonly children: string;
  readonly danger?: boolean;
  readonly onSelect: () => void;
}

export function MenuItem({ icon: Icon, children, danger = false, onSelect }: MenuItemProps): ReactElement {
  return (
    <DropdownMenu.Item
      onSelect={onSelect}
      className={`flex cursor-pointer items-center gap-3 rounded-lg px-3 py-2 text-sm outline-none data-highlighted:bg-hover ${danger ? 'text-danger' : ''}`}
    >
      <Icon aria-hidden="true" className="size-4 shrink-0" />
      {children}
    </DropdownMenu.Item>
  );
}

export function MenuLine(): ReactElement {
  return <DropdownMenu.Separator className="mx-2 my-1 h-px bg-line" />;
}
