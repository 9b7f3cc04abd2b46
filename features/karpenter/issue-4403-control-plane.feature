# Asked for by https://github.com/aws/karpenter-provider-aws/issues/4403.

@karpenter @issue-4403
Feature: An upgrade of the control plane changes nothing about machines

  There is one API server, which is away for half a minute: longer than Karpenter may be without its lease. It is alone, and
  needs none.

  @karpenter-4403-control-plane
  Scenario: The control plane is upgraded when pods wait for machines
    Given a cluster of Kubernetes v1.35.4 until its control plane is upgraded
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And a cloud of instances
    And the target has the environment variables:
      | DISABLE_LEADER_ELECTION | true |
    And Karpenter with a NodePool "default"
    When these objects from the file "spread.yaml" are created
    Then "karpenter" has sent "create" of "nodeclaims" within 1m
    When the control plane is upgraded
    Then every pod is Running within 5m
    When "Deployment/web" is scaled to 9
    Then every pod is Running within 5m
    And 10m from now, exactly 9 NodeClaims have been created since the start
    And "karpenter" has never sent "delete" of "nodeclaims" within 1s

  @karpenter-4403-control-plane-restarted
  Scenario: All of the control plane is restarted as in an upgrade, when pods wait for machines
    Given a cluster of Kubernetes v1.36.3 until its control plane is upgraded
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And a cloud of instances
    And the target has the environment variables:
      | DISABLE_LEADER_ELECTION | true |
    And Karpenter with a NodePool "default"
    When these objects from the file "spread.yaml" are created
    Then "karpenter" has sent "create" of "nodeclaims" within 1m
    When the control plane is upgraded
    Then every pod is Running within 5m
    When "Deployment/web" is scaled to 9
    Then every pod is Running within 5m
    And 10m from now, exactly 9 NodeClaims have been created since the start
    And "karpenter" has never sent "delete" of "nodeclaims" within 1s

  @karpenter-4403-control-plane-at-rest
  Scenario: When all is in order, all of the control plane is restarted as in an upgrade
    Given a cluster of Kubernetes v1.36.3 until its control plane is upgraded
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the target has the environment variables:
      | DISABLE_LEADER_ELECTION | true |
    And Karpenter with a NodePool "default"
    When these objects from the file "spread.yaml" are created
    Then every pod is Running within 5m
    And "karpenter" never sends "delete" of "nodeclaims" within 6m
    When the control plane is upgraded
    Then 12m from now, exactly 6 NodeClaims have been created since the start
    And "karpenter" has never sent "delete" of "nodeclaims" within 1s
    And every pod is Running within 1m
