# The same story with a simulated and with a real kubelet: where they differ must
# not be what a scenario is about.

@kubelet
Feature: A kubelet's machine as the cluster sees it

  Scenario Outline: from joining to silence, with a <kind> kubelet
    Given a cluster that kubelets can join
    When a machine "a" with a <kind> kubelet boots, labelled "team=red" and tainted "dedicated=red:NoSchedule"
    Then the Node "a" is Ready within 2m, labelled "team=red" and tainted "dedicated=red:NoSchedule"
    When a pod "p" for the Node "a" is created
    Then the pod "p" is Running within 1m
    When "Pod/p" is deleted
    Then the pod "p" is gone within 1m
    When the <kind> kubelet of the machine "a" stops sending heartbeats
    Then the Node "a" is no longer Ready within 2m

    Examples:
      | kind      |
      | simulated |
      | real      |

  @network
  Scenario: A real kubelet without a network plugin
    Given a cluster that kubelets can join
    When a machine "a" with a real kubelet boots, labelled "team=red" and tainted "dedicated=red:NoSchedule"
    Then the Node "a" is Ready within 2m, labelled "team=red" and tainted "dedicated=red:NoSchedule"
    When the real kubelet of the machine "a" finds no network plugin, for 1m
    Then the Node "a" is no longer Ready within 2m
    And the Node "a" is Ready within 3m
