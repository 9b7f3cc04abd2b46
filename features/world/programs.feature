# Programs of the world end and start again: the control plane here, targets likewise.

@programs
Feature: Programs are killed, stopped and started again

  Scenario: The world goes on without a part of it, and with it again
    Given a cluster
    And a Ready Node "a" for system pods only
    And these objects:
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: web}
      spec:
        replicas: 1
        selector: {matchLabels: {app: web}}
        template:
          metadata: {labels: {app: web}}
          spec:
            tolerations: [{key: CriticalAddonsOnly, operator: Exists}]
            containers: [{name: web, image: web}]
      """
    Then a pod of the Deployment "web" is Running within 1m
    When the program "kube-scheduler" is stopped
    And "Deployment/web" is scaled to 2 once "harness" has recorded "stopped" of "programs" "kube-scheduler"
    Then "kube-scheduler" never sends "create" of "pods/binding" within 1m
    When the program "kube-scheduler" is started again
    Then "node" has recorded "running" of "pods" within 1m
    When the program "kube-apiserver" is killed
    And the program "kube-controller-manager" is restarted
    And "Deployment/web" is scaled to 3
    Then "node" has recorded "running" of "pods" within 1m
