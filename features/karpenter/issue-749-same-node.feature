# https://github.com/kubernetes-sigs/descheduler/issues/749: pods come back to the Node that they are evicted from.
# https://github.com/kubernetes-sigs/karpenter/issues/1921: a Node whose pods come and go is not consolidated.

@karpenter @issue-749
Feature: The descheduler empties a machine that is hardly used, and Karpenter removes it

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 5s later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 5m}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
              - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: large, annotations: {karpenter.sh/do-not-disrupt: "true"}}
      spec: {containers: [{name: large, image: large, resources: {requests: {cpu: 2500m}}}]}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: short-lived}
      spec: {containers: [{name: short-lived, image: short-lived, resources: {requests: {cpu: "1"}}}]}
      """
    And "node" has recorded "running" of "pods" 2 times
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: small}
      spec:
        selector: {matchLabels: {app: small}}
        template:
          metadata: {labels: {app: small}}
          spec: {containers: [{name: small, image: small, resources: {requests: {cpu: "1"}}}]}
      """
    And "node" has recorded "running" of "pods" 3 times
    And "Pod/short-lived" is deleted

  @karpenter-749-same-node
  Scenario: The descheduler runs more often than Karpenter waits
    When the descheduler v0.36.0 runs every 2m with this policy:
      """
      apiVersion: descheduler/v1alpha2
      kind: DeschedulerPolicy
      profiles:
        - name: default
          pluginConfig:
            - name: HighNodeUtilization
              args: {thresholds: {cpu: 40}}
          plugins:
            balance: {enabled: [HighNodeUtilization]}
      """
    Then "karpenter" has sent "delete" of "nodeclaims" within 15m

  @karpenter-749-runs-seldom
  Scenario: The descheduler runs less often than Karpenter waits
    When the descheduler v0.36.0 runs every 20m with this policy:
      """
      apiVersion: descheduler/v1alpha2
      kind: DeschedulerPolicy
      profiles:
        - name: default
          pluginConfig:
            - name: HighNodeUtilization
              args: {thresholds: {cpu: 40}}
          plugins:
            balance: {enabled: [HighNodeUtilization]}
      """
    Then "karpenter" has sent "delete" of "nodeclaims" within 15m
