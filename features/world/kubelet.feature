# The same story with a simulated and with a real kubelet: where they differ must
# not be what a scenario is about.

@kubelet
Feature: A kubelet's machine as the cluster sees it

  Scenario Outline: from joining to silence, with a <kind> kubelet
    Given a cluster that kubelets can join
    When a machine "a" with a <kind> kubelet boots, labelled "team=red" and tainted "dedicated=red:NoSchedule"
    Then the node "a" is Ready within 2m, labelled "team=red" and tainted "dedicated=red:NoSchedule"
    When a pod "p" for the node "a" is created
    Then the pod "p" is Running within 1m
    When "Pod/p" is deleted
    Then the pod "p" is gone within 1m
    When the <kind> kubelet of the machine "a" falls silent
    Then the node "a" is not Ready within 2m

    Examples:
      | kind      |
      | simulated |
      | real      |
